//! Room that was reserved: to send without waiting.

use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::ptr;

use super::error::SendError;
use super::mode::Lossless;
use super::sender::Sender;
use super::shared::Shared;

/// Room for one value. Dropping it unused gives the room to the next sender.
#[must_use = "the room is given back as soon as this is dropped"]
pub struct Permit<'a, T> {
    shared: &'a Shared<T>,
}

impl<'a, T> Permit<'a, T> {
    pub(super) fn new(shared: &'a Shared<T>) -> Self {
        Permit { shared }
    }

    /// Sends the value to all receivers that there are now, and tells how many.
    ///
    /// # Errors
    ///
    /// If there is no receiver: the value comes back.
    pub fn send(self, value: T) -> Result<usize, SendError<T>> {
        let shared = self.shared;
        mem::forget(self);
        shared.send_held(value).map_err(SendError)
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.shared.return_place();
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

/// Room for one value, with the sender. Dropping it unused gives the room to the next sender.
#[must_use = "the room is given back as soon as this is dropped"]
pub struct OwnedPermit<T> {
    sender: Sender<T, Lossless>,
}

impl<T> OwnedPermit<T> {
    pub(super) fn new(sender: Sender<T, Lossless>) -> Self {
        OwnedPermit { sender }
    }

    /// Sends the value to all receivers that there are now, and gives the sender back.
    ///
    /// # Errors
    ///
    /// If there is no receiver: the value comes back, and the sender is dropped.
    pub fn send(self, value: T) -> Result<Sender<T, Lossless>, SendError<T>> {
        let sender = self.into_sender();
        sender.shared.send_held(value).map_err(SendError)?;
        Ok(sender)
    }

    /// Gives the room back, and the sender.
    pub fn release(self) -> Sender<T, Lossless> {
        let sender = self.into_sender();
        sender.shared.return_place();
        sender
    }

    /// The sender; the room stays held.
    fn into_sender(self) -> Sender<T, Lossless> {
        let this = ManuallyDrop::new(self);
        // SAFETY: it is moved out once, and not dropped where it was.
        unsafe { ptr::read(&this.sender) }
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        self.sender.shared.return_place();
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").field("sender", &self.sender).finish()
    }
}
