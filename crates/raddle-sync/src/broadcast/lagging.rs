//! The channel that overwrites: sending never waits, so there is no room to be reserved.

use raddle_base::shim::Arc;

use super::error::SendError;
use super::mode::Lagging;
use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::Shared;
use crate::ends::End;
use crate::places::feed::sink_at_once;

/// Makes a channel that holds the last `capacity` values for those who have not received them yet;
/// who is slower than that misses some, and is told how many.
///
/// # Panics
///
/// If `capacity` is zero, or so large that there is no memory for it.
#[track_caller]
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(capacity);
    let receiver = sender.subscribe();
    (sender, receiver)
}

impl<T> Sender<T, Lagging> {
    /// A channel without a receiver yet, see [`subscribe`](Self::subscribe).
    ///
    /// # Panics
    ///
    /// As [`channel`].
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "a broadcast channel needs room for at least one value");
        Sender::from_end(End::counted(Arc::new(Shared::new(capacity))))
    }

    /// Sends a value to all receivers that there are now, and tells how many.
    ///
    /// If there is no room the oldest value is dropped, with nothing locked, after the receivers
    /// have been woken; those who did not receive it have missed it.
    ///
    /// # Errors
    ///
    /// If there is no receiver: the value comes back.
    #[inline]
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        self.chan.overwrite(value).map_err(SendError)
    }
}

sink_at_once!(
    Sender<T, Lagging>,
    SendError<()>,
    |_: &Self| SendError(()),
    |sender: &Self, value| sender.send(value).map(drop).map_err(|_| SendError(()))
);
