//! The channel with a bound: senders wait for room.

use std::future::Future;
use std::time::Duration;

use super::chan::Chan;
use super::error::{SendError, SendTimeoutError, TrySendError};
use super::kind::Bounded;
use super::receive::Receiver;
use super::send::{SendTimeout, Sending};
use super::sender::Sender;
use crate::block_on;
use crate::ends::End;
use crate::permits::{Denied, Permits};
use crate::timed::within;

/// The largest bound of a channel.
pub const MAX_CAPACITY: usize = Permits::<Bounded>::MAX;

/// Makes a channel with room for `buffer` values.
///
/// # Panics
///
/// If `buffer` is zero, or more than
/// [`MAX_CAPACITY`].
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    assert!(buffer > 0, "a bounded channel needs room for at least one value");
    assert!(buffer <= MAX_CAPACITY, "the bound of a channel is too large");
    channel_at(buffer, 0)
}

/// As [`channel`], with `first` as the first position: the start of a block.
pub(super) fn channel_at<T>(buffer: usize, first: usize) -> (Sender<T>, Receiver<T>) {
    let chan = Chan::new(buffer, first);
    (Sender::from_end(End::counted(chan.clone())), Receiver::new(chan))
}

impl<T> Sender<T> {
    /// Sends a value, waiting for room if there is none.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the value was not sent, and is dropped with
    /// it. To keep the value, [`reserve`](Self::reserve) first.
    ///
    /// # Errors
    ///
    /// If the receiver is closed or gone: the value comes back.
    #[track_caller]
    #[inline]
    pub fn send(&self, value: T) -> Sending<'_, T> {
        Sending::new(&self.chan, value)
    }

    /// Sends a value if there is room now and nobody waits for it.
    ///
    /// # Errors
    ///
    /// If there is no room, or the receiver is closed or gone: the value comes back.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.chan.try_send(value).map_err(|(denied, value)| match denied {
            Denied::NotNow => TrySendError::Full(value),
            Denied::Closed => TrySendError::Closed(value),
        })
    }

    /// Sends a value, blocking the thread while there is no room. Errors as [`send`](Self::send).
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        block_on(self.send(value))
    }

    /// Sends a value, waiting for room until `time_is_up` is ready: any future, such as the sleep
    /// of a runtime.
    ///
    /// The send is looked at first, so with room the value is sent even if time is up already.
    ///
    /// # Cancel safety
    ///
    /// As [`send`](Self::send).
    ///
    /// # Errors
    ///
    /// If time is up, or the receiver is closed or gone: the value comes back.
    ///
    /// ```
    /// use raddle_sync::{block_on, mpsc};
    ///
    /// let (tx, _rx) = mpsc::channel(1);
    /// let now = std::future::ready(());
    /// block_on(tx.send_timeout(1, now)).unwrap();
    /// let error = block_on(tx.send_timeout(2, std::future::ready(()))).unwrap_err();
    /// assert_eq!(error, mpsc::SendTimeoutError::Timeout(2));
    /// ```
    #[track_caller]
    pub fn send_timeout<F: Future>(&self, value: T, time_is_up: F) -> SendTimeout<'_, T, F> {
        SendTimeout::new(self.send(value), time_is_up)
    }

    /// Sends a value, blocking the thread for at most `limit` while there is no room.
    ///
    /// With room the value is sent even with a limit of zero.
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
    ) -> Result<(), SendTimeoutError<T>> {
        within(self.send(value), limit)
    }

    /// Room that is free now. While senders wait there is none.
    pub fn capacity(&self) -> usize {
        self.chan.permits().available()
    }

    /// The room that the channel was made with.
    pub fn max_capacity(&self) -> usize {
        self.chan.capacity
    }
}
