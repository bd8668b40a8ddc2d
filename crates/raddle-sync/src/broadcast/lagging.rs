//! The channel that overwrites: sending never waits.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_sink::Sink;
use raddle_base::shim::Arc;

use super::error::SendError;
use super::mode::Lagging;
use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::Shared;

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
        Sender::from_shared(Arc::new(Shared::new(capacity)))
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
        self.shared.overwrite(value).map_err(SendError)
    }
}

/// Always ready; the value is dropped with the error if there is no receiver.
impl<T> Sink<T> for Sender<T, Lagging> {
    type Error = SendError<()>;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        Poll::Ready(if self.is_closed() { Err(SendError(())) } else { Ok(()) })
    }

    fn start_send(self: Pin<&mut Self>, value: T) -> Result<(), SendError<()>> {
        self.send(value).map(drop).map_err(|_| SendError(()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        Poll::Ready(Ok(()))
    }
}
