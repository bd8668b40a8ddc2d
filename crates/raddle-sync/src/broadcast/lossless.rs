//! The channel that loses nothing: senders wait for the slowest receiver.

use std::future::Future;
use std::time::Duration;

use raddle_base::shim::Arc;

use super::error::{SendError, SendTimeoutError, TrySendError};
use super::mode::Lossless;
use super::receiver::Receiver;
use super::send::{SendTimeout, Sending};
use super::sender::Sender;
use super::shared::{Denied, Shared};
use crate::block_on;
use crate::ends::End;
use crate::timed::within;

/// Makes a channel with room for `capacity` values, in which every receiver receives every value:
/// senders wait for room, which is made by the slowest receiver.
///
/// # Panics
///
/// If `capacity` is zero, or so large that there is no memory for it.
#[track_caller]
pub fn lossless_channel<T>(capacity: usize) -> (Sender<T, Lossless>, Receiver<T, Lossless>) {
    assert!(capacity > 0, "a broadcast channel needs room for at least one value");
    let sender = Sender::from_end(End::counted(Arc::new(Shared::new(capacity))));
    let receiver = sender.subscribe();
    (sender, receiver)
}

pub(super) fn try_send_error<T>((denied, value): (Denied, T)) -> TrySendError<T> {
    match denied {
        Denied::Full => TrySendError::Full(value),
        Denied::Closed => TrySendError::Closed(value),
    }
}

impl<T> Sender<T, Lossless> {
    /// Sends a value to all receivers that there are then, waiting for room if there is none.
    /// Tells how many there are.
    ///
    /// Room is given first come first served; a receiver that neither receives nor is dropped
    /// holds all senders up.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the value was not sent, and is dropped with
    /// it. To keep the value, [`reserve`](Self::reserve) first.
    ///
    /// # Errors
    ///
    /// If there is no receiver, or the last one goes: the value comes back.
    #[inline]
    #[track_caller]
    pub fn send(&self, value: T) -> Sending<'_, T> {
        Sending::new(self.chan.chan(), value)
    }

    /// Sends a value if there is room now and nobody waits for it. Tells how many will receive it.
    ///
    /// # Errors
    ///
    /// If there is no room, or no receiver: the value comes back.
    #[inline]
    pub fn try_send(&self, value: T) -> Result<usize, TrySendError<T>> {
        self.chan.try_send(value).map_err(try_send_error)
    }

    /// As [`send`](Self::send), blocking the thread while there is no room.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<usize, SendError<T>> {
        block_on(self.send(value))
    }

    /// Sends a value, waiting for room until `time_is_up` is ready: any future, such as the sleep
    /// of a runtime. With room the value is sent even if time is up already.
    ///
    /// # Cancel safety
    ///
    /// As [`send`](Self::send).
    ///
    /// # Errors
    ///
    /// If time is up, or there is no receiver: the value comes back.
    #[track_caller]
    pub fn send_timeout<F: Future>(&self, value: T, time_is_up: F) -> SendTimeout<'_, T, F> {
        SendTimeout::new(self.send(value), time_is_up)
    }

    /// Sends a value, blocking the thread for at most `limit` while there is no room. With room the
    /// value is sent even with a limit of zero.
    ///
    /// # Errors
    ///
    /// As [`send_timeout`](Self::send_timeout).
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_send_timeout(
        &self,
        value: T,
        limit: Duration,
    ) -> Result<usize, SendTimeoutError<T>> {
        within(self.send(value), limit)
    }

    /// Room that is free now. While senders wait there is none.
    pub fn capacity(&self) -> usize {
        self.chan.room()
    }
}
