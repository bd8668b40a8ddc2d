//! Places in a channel that were reserved: to send without waiting and without failing.

use std::fmt;
use std::mem;

use super::chan::Chan;
use super::kind::Bounded;

/// One place in a channel. Dropping it unused gives the place back.
#[must_use = "the place is given back as soon as this is dropped"]
pub struct Permit<'a, T> {
    chan: &'a Chan<T, Bounded>,
}

impl<'a, T> Permit<'a, T> {
    pub(super) fn new(chan: &'a Chan<T, Bounded>) -> Self {
        Permit { chan }
    }

    /// Sends the value. A receiver that closed the channel still gets it; if the receiver is gone
    /// the value is dropped.
    pub fn send(self, value: T) {
        let chan = self.chan;
        mem::forget(self);
        send_reserved(chan, value);
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.chan.return_places(1);
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

/// Several places in a channel, handed out one by one. Dropping it gives back the rest.
#[must_use = "the places are given back as soon as this is dropped"]
pub struct PermitIterator<'a, T> {
    chan: &'a Chan<T, Bounded>,
    left: usize,
}

impl<'a, T> PermitIterator<'a, T> {
    pub(super) fn new(chan: &'a Chan<T, Bounded>, count: usize) -> Self {
        PermitIterator { chan, left: count }
    }
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.left = self.left.checked_sub(1)?;
        Some(Permit::new(self.chan))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}
impl<T> std::iter::FusedIterator for PermitIterator<'_, T> {}

impl<T> Drop for PermitIterator<'_, T> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.chan.return_places(self.left);
        }
    }
}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermitIterator").field("left", &self.left).finish()
    }
}

/// Sends into a reserved place. Without a receiver the value is dropped, with nothing locked.
pub(super) fn send_reserved<T>(chan: &Chan<T, Bounded>, value: T) {
    drop(chan.send_held(value));
}
