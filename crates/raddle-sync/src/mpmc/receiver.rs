//! The receiving ends, and the stream of values.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;

use super::chan::Chan;
use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::kind::{Bounded, HasRoom, Kind};
use super::recv::{Recv, RecvMany, Turn};
use crate::closing::Closed;
use crate::ends::counted_ends;
use crate::{block_on, wait_timeout};

counted_ends! {
    /// The receiving end of a channel. Clone it for more receivers, which allocates nothing: each
    /// value goes to one of them.
    pub struct Receiver<T, K: Kind = Bounded> and struct WeakReceiver
        of Chan<T>, Receivers: "receiver"
}

impl<T, K: Kind> Receiver<T, K> {
    /// Waits for the next value. Receivers that wait are served first come first served.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: no value leaves the channel before it is ready.
    ///
    /// # Errors
    ///
    /// If the channel is empty and nothing will come.
    #[inline]
    #[track_caller]
    pub fn recv(&self) -> Recv<'_, T> {
        Recv::new(&self.chan)
    }

    /// Takes the next value if there is one now that belongs to nobody who was woken for it.
    ///
    /// # Errors
    ///
    /// If there is none, or nothing will come.
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.chan.try_recv()
    }

    /// Waits for values, and adds up to `limit` that are there to `buffer`. Returns how many: one
    /// at least, unless `limit` is zero.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: it adds values only when it is ready.
    ///
    /// # Errors
    ///
    /// If the channel is empty and nothing will come.
    #[track_caller]
    pub fn recv_many<'a>(&'a self, buffer: &'a mut Vec<T>, limit: usize) -> RecvMany<'a, T> {
        RecvMany::new(&self.chan, buffer, limit)
    }

    /// Adds up to `limit` values that are there now to `buffer`. Returns how many: one at least,
    /// unless `limit` is zero.
    ///
    /// # Errors
    ///
    /// If there is none, or nothing will come.
    pub fn try_recv_many(&self, buffer: &mut Vec<T>, limit: usize) -> Result<usize, TryRecvError> {
        if limit == 0 { Ok(0) } else { self.chan.take_many(buffer, limit, false) }
    }

    /// As [`recv`](Self::recv), blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv(&self) -> Result<T, RecvError> {
        block_on(self.recv())
    }

    /// As [`recv`](Self::recv), blocking the thread for at most `limit`. A value that is there is
    /// received even with a limit of zero; a receive that ends by its limit took nothing.
    ///
    /// # Errors
    ///
    /// If time is up, or the channel is empty and nothing will come.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv_timeout(&self, limit: Duration) -> Result<T, RecvTimeoutError> {
        match wait_timeout(self.recv(), limit) {
            Some(result) => result.map_err(RecvTimeoutError::from),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    /// As [`recv_many`](Self::recv_many), blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv_many(
        &self,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Result<usize, RecvError> {
        block_on(self.recv_many(buffer, limit))
    }

    /// As [`recv_many`](Self::recv_many), blocking the thread for at most `time`. Values that are
    /// there are received even with no time; a receive that ends by it took nothing.
    ///
    /// # Errors
    ///
    /// As [`recv_many`](Self::recv_many), and `Timeout` when the time has passed.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv_many_timeout(
        &self,
        buffer: &mut Vec<T>,
        limit: usize,
        time: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        match wait_timeout(self.recv_many(buffer, limit), time) {
            Some(result) => result.map_err(RecvTimeoutError::from),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    /// The values as a [`Stream`], which ends when nothing will come.
    #[track_caller]
    pub fn into_stream(self) -> ReceiverStream<T, K> {
        ReceiverStream { turn: Turn::new(), receiver: self }
    }

    /// Accepts nothing new: sends that wait are refused, and get their value back. Values that were
    /// accepted, and those of places reserved before, can still be received. False if the channel
    /// was closed already.
    pub fn close(&self) -> bool {
        self.chan.close()
    }

    /// Waits until the channel is closed or all senders are gone; there may still be values.
    /// Dropping the future loses nothing.
    #[track_caller]
    pub fn closed(&self) -> Closed<'_> {
        self.chan.to_receivers.wait()
    }

    /// As [`closed`](Self::closed), blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_closed(&self) {
        block_on(self.closed());
    }

    /// As [`closed`](Self::closed), blocking the thread for at most `limit`; whether it came true.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_closed_timeout(&self, limit: Duration) -> bool {
        wait_timeout(self.closed(), limit).is_some()
    }

    /// Whether the channel is closed or all senders are gone. There may still be values.
    pub fn is_closed(&self) -> bool {
        self.chan.to_receivers.is_set()
    }

    /// Values in the channel, with those that receivers were woken for.
    pub fn len(&self) -> usize {
        self.chan.len()
    }

    /// Whether there is no value in the channel.
    pub fn is_empty(&self) -> bool {
        self.chan.len() == 0
    }

    /// How many senders there are.
    pub fn sender_count(&self) -> usize {
        self.chan.senders.strong()
    }

    /// How many receivers there are. The same as [`strong_count`](Self::strong_count).
    pub fn receiver_count(&self) -> usize {
        self.chan.receivers.strong()
    }
}

impl<T, K: HasRoom> Receiver<T, K> {
    /// The room that the channel was made with.
    pub fn capacity(&self) -> usize {
        self.chan.capacity()
    }

    /// Whether all room is taken or reserved.
    pub fn is_full(&self) -> bool {
        self.chan.is_full()
    }
}

impl<T, K: Kind> fmt::Debug for Receiver<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Receiver");
        out.field("len", &self.len()).field("closed", &self.is_closed()).finish()
    }
}

/// A receiver as a [`Stream`]. The wait lies in it, so that it must be pinned to be polled.
///
/// Dropping it gives its place in line up, and loses no value.
#[must_use = "streams do nothing unless polled"]
pub struct ReceiverStream<T, K: Kind = Bounded> {
    turn: Turn<T>,
    receiver: Receiver<T, K>,
}

impl<T, K: Kind> ReceiverStream<T, K> {
    /// The receiver.
    pub fn receiver(&self) -> &Receiver<T, K> {
        &self.receiver
    }
}

impl<T, K: Kind> Stream for ReceiverStream<T, K> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = self.into_ref().get_ref();
        // SAFETY: the turn is pinned with the stream, and left when that is dropped.
        Poll::Ready(ready!(unsafe { this.turn.poll(&this.receiver.chan, cx) }).ok())
    }
}

impl<T, K: Kind> Drop for ReceiverStream<T, K> {
    fn drop(&mut self) {
        // SAFETY: as in `poll_next`.
        unsafe { self.turn.leave(&self.receiver.chan) };
    }
}

impl<T, K: Kind> fmt::Debug for ReceiverStream<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("ReceiverStream");
        out.field("receiver", &self.receiver).field("waiter", &self.turn).finish()
    }
}
