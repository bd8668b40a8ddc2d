//! The sending end: replaces the value, or changes it in place.

use std::fmt;
use std::mem;
use std::time::Duration;

use raddle_base::shim::Arc;

use super::error::SendError;
use super::guard::Ref;
use super::receiver::Receiver;
use super::shared::Shared;
use crate::audience::Closed;
use crate::ends::End;
use crate::{block_on, wait_timeout};

/// The sending end of a watch channel. Clone it for more senders.
///
/// Every method that changes the value blocks the thread while a [`Ref`] of the channel is alive.
/// On a thread that holds one itself, that would be for ever.
///
/// Sharing a channel shares its value, so the ends cross threads only if that may:
///
/// ```compile_fail,E0277
/// fn crosses_threads<T: Send>() {}
/// crosses_threads::<raddle_sync::watch::Sender<std::cell::Cell<u8>>>();
/// ```
pub struct Sender<T> {
    shared: End<Shared<T>>,
}

impl<T> Sender<T> {
    pub(super) fn from_end(shared: End<Shared<T>>) -> Self {
        Sender { shared }
    }

    /// A channel without a receiver yet, see [`subscribe`](Self::subscribe). Allocates once.
    pub fn new(value: T) -> Self {
        Self::from_end(End::counted(Arc::new(Shared::new(value, 0))))
    }

    /// Replaces the value, and lets all receivers know. The old value is dropped last, with
    /// nothing locked.
    ///
    /// # Errors
    ///
    /// If there is no receiver: the new value comes back, and the old one stays.
    /// [`send_replace`](Self::send_replace) does not mind.
    #[inline]
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.shared.audience.count() == 0 {
            return Err(SendError(value));
        }
        drop(self.send_replace(value));
        Ok(())
    }

    /// Replaces the value, lets all receivers know, if there are any, and returns the old value.
    #[inline]
    #[track_caller]
    pub fn send_replace(&self, mut value: T) -> T {
        self.shared.update(|old| {
            mem::swap(old, &mut value);
            true
        });
        value
    }

    /// Changes the value in place, and lets all receivers know, if there are any.
    ///
    /// The closure runs while the value is locked: it must not look at the value by any other way,
    /// nor send, and whoever borrows the value meanwhile blocks a thread.
    ///
    /// # Panics
    ///
    /// If the closure does. The value stays as the closure left it, and can be borrowed, but
    /// nobody is told of a change.
    #[track_caller]
    pub fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Changes the value in place, and lets all receivers know if the closure returns true. Returns
    /// what the closure returned.
    ///
    /// What is said of the closure of [`send_modify`](Self::send_modify) holds for this one.
    #[track_caller]
    pub fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        self.shared.update(modify)
    }

    /// A look at the value.
    #[inline]
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        let reading = self.shared.read();
        let seen = reading.version;
        Ref::new(reading, seen)
    }

    /// A new receiver, which has seen the value as it is now.
    pub fn subscribe(&self) -> Receiver<T> {
        self.shared.audience.join();
        Receiver::new(self.shared.shared(), self.shared.version())
    }

    /// Waits until there is no receiver. Over with the end of the last one, although there may be
    /// another by the time that is noticed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    #[track_caller]
    pub fn closed(&self) -> Closed<'_> {
        self.shared.audience.closed()
    }

    /// Waits until there is no receiver, by blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_closed(&self) {
        block_on(self.closed());
    }

    /// Waits until there is no receiver, by blocking the thread, for at most `limit`; whether that
    /// came true.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_closed_timeout(&self, limit: Duration) -> bool {
        wait_timeout(self.closed(), limit).is_some()
    }

    /// Whether there is no receiver now.
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.shared.audience.count()
    }

    /// How many senders there are.
    pub fn sender_count(&self) -> usize {
        self.shared.senders.strong()
    }

    /// Whether both belong to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.shared.same_channel(&other.shared)
    }
}

impl<T: Default> Default for Sender<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self::from_end(self.shared.clone())
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("senders", &self.sender_count())
            .field("receivers", &self.receiver_count())
            .finish_non_exhaustive()
    }
}
