//! The receiving end, one for channels with and without a bound.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use raddle_base::context;
use raddle_base::shim::Arc;
use raddle_base::wait::WaitKind;

use super::chan::Chan;
use super::error::{RecvTimeoutError, TryRecvError};
use super::kind::{Bounded, Kind, Unbounded};
use super::take::Rx;
use crate::{block_on, wait_timeout};

/// The receiving end of a channel, with a bound or ([`UnboundedReceiver`]) without.
///
/// Only one task receives at a time (`&mut self`), and no receive takes a lock. As a
/// [`Stream`] it gives what [`recv`](Self::recv) gives.
pub struct Receiver<T, K: Kind = Bounded> {
    rx: Rx<T, K>,
}

/// The receiving end of a channel without a bound.
pub type UnboundedReceiver<T> = Receiver<T, Unbounded>;

impl<T, K: Kind> Receiver<T, K> {
    pub(super) fn new(chan: Arc<Chan<T, K>>) -> Self {
        Receiver { rx: Rx::new(chan) }
    }

    /// Waits for the next value; `None` at the end of the channel.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing; the task may be woken once for no reason.
    #[track_caller]
    pub fn recv(&mut self) -> Recv<'_, T, K> {
        Recv { rx: &mut self.rx, site: Location::caller() }
    }

    /// Waits for values, and adds up to `limit` that are there to `buffer`. Returns how many;
    /// zero at the end of the channel, or if `limit` is zero.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: it adds values only when it is ready.
    #[track_caller]
    pub fn recv_many<'a>(&'a mut self, buffer: &'a mut Vec<T>, limit: usize) -> RecvMany<'a, T, K> {
        RecvMany { rx: &mut self.rx, buffer, limit, site: Location::caller() }
    }

    /// Takes the next value if there is one now.
    ///
    /// # Errors
    ///
    /// `Empty` if there is none, `Disconnected` at the end of the channel.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.rx.try_recv()
    }

    /// The poll form of [`recv`](Self::recv).
    #[inline]
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.rx.poll_recv(cx)
    }

    /// The poll form of [`recv_many`](Self::recv_many).
    pub fn poll_recv_many(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Poll<usize> {
        self.rx.poll_recv_many(cx, buffer, limit)
    }

    /// Waits for the next value by blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Option<T> {
        block_on(self.recv())
    }

    /// Waits for the next value by blocking the thread, for at most `limit`.
    ///
    /// A value that is there is received even with a limit of zero. A receive that ends by its
    /// limit took nothing.
    ///
    /// # Errors
    ///
    /// `Timeout` when the limit has passed, `Disconnected` at the end of the channel.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv_timeout(&mut self, limit: Duration) -> Result<T, RecvTimeoutError> {
        match wait_timeout(self.recv(), limit) {
            Some(Some(value)) => Ok(value),
            Some(None) => Err(RecvTimeoutError::Disconnected),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    /// Waits for values by blocking the thread. See [`recv_many`](Self::recv_many).
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
        block_on(self.recv_many(buffer, limit))
    }

    /// As [`recv_many`](Self::recv_many), blocking the thread for at most `time`. Values that are
    /// there are received even with no time; a receive that ends by it took nothing.
    ///
    /// # Errors
    ///
    /// `Timeout` when the time has passed.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv_many_timeout(
        &mut self,
        buffer: &mut Vec<T>,
        limit: usize,
        time: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        wait_timeout(self.recv_many(buffer, limit), time).ok_or(RecvTimeoutError::Timeout)
    }

    /// Accepts nothing new, and ends waits for room with an error. Values that were accepted, and
    /// those of places reserved before, can still be received.
    pub fn close(&mut self) {
        self.rx.close();
    }

    /// Whether [`close`](Self::close) was called or all senders are gone. There may still be
    /// values.
    pub fn is_closed(&self) -> bool {
        self.rx.is_closed()
    }

    /// Whether there is no value now.
    pub fn is_empty(&self) -> bool {
        self.rx.len() == 0
    }

    /// Values that are there now, with those whose send is under way in this moment.
    pub fn len(&self) -> usize {
        self.rx.len()
    }

    /// How many senders there are.
    pub fn sender_strong_count(&self) -> usize {
        self.rx.chan.senders.strong()
    }

    /// How many weak senders there are.
    pub fn sender_weak_count(&self) -> usize {
        self.rx.chan.senders.weak()
    }
}

impl<T> Receiver<T, Bounded> {
    /// Room that is free now.
    pub fn capacity(&self) -> usize {
        self.rx.chan.permits().available()
    }

    /// The room that the channel was made with.
    pub fn max_capacity(&self) -> usize {
        self.rx.chan.capacity
    }
}

// Nothing in it is pinned.
impl<T, K: Kind> Unpin for Receiver<T, K> {}

impl<T, K: Kind> Stream for Receiver<T, K> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.rx.poll_recv(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.rx.len(), None)
    }
}

impl<T, K: Kind> fmt::Debug for Receiver<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rx.fmt(f)
    }
}

impl<T, K: Kind> fmt::Debug for Rx<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("len", &self.len())
            .field("ended", &self.is_at_end())
            .finish()
    }
}

/// The future of [`Receiver::recv`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Recv<'a, T, K: Kind = Bounded> {
    rx: &'a mut Rx<T, K>,
    site: &'static Location<'static>,
}

impl<T, K: Kind> Future for Recv<'_, T, K> {
    type Output = Option<T>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let polled = self.rx.poll_recv(cx);
        if polled.is_pending() {
            context::waits(WaitKind::Value, Some(self.site));
        }
        polled
    }
}

/// The future of [`Receiver::recv_many`].
#[must_use = "futures do nothing unless awaited"]
pub struct RecvMany<'a, T, K: Kind = Bounded> {
    rx: &'a mut Rx<T, K>,
    buffer: &'a mut Vec<T>,
    limit: usize,
    site: &'static Location<'static>,
}

impl<T, K: Kind> Future for RecvMany<'_, T, K> {
    type Output = usize;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        let this = &mut *self;
        let polled = this.rx.poll_recv_many(cx, this.buffer, this.limit);
        if polled.is_pending() {
            context::waits(WaitKind::Value, Some(this.site));
        }
        polled
    }
}

impl<T, K: Kind> fmt::Debug for RecvMany<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvMany").field("rx", self.rx).field("limit", &self.limit).finish()
    }
}
