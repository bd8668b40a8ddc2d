//! The channel without a bound: sending never waits.

use std::fmt;
use std::task::{Context, Poll};

use raddle_base::shim::Arc;

use super::chan::{Chan, Closed, UNBOUNDED};
use super::error::{SendError, TryRecvError};
use super::receive::{Recv, RecvMany, Rx};
use crate::block_on;

/// Makes a channel without a bound. It grows as long as values come faster than they are
/// received: use it where something else limits them.
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let chan = Chan::new(UNBOUNDED);
    (UnboundedSender { chan: chan.clone() }, UnboundedReceiver { rx: Rx::new(chan) })
}

/// The sending end of a channel without a bound. Clone it for more senders.
pub struct UnboundedSender<T> {
    chan: Arc<Chan<T>>,
}

impl<T> UnboundedSender<T> {
    /// Sends a value, without waiting. Allocates when a block is full.
    ///
    /// # Errors
    ///
    /// If the receiver is closed or gone: the value comes back.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.chan.push(value).map_err(SendError)
    }

    /// Waits until the receiver is closed or gone.
    #[track_caller]
    pub fn closed(&self) -> Closed<'_> {
        self.chan.closed()
    }

    /// Whether the receiver is closed or gone.
    pub fn is_closed(&self) -> bool {
        self.chan.is_closed()
    }

    /// Whether both belong to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }

    /// A handle that does not keep the channel open.
    pub fn downgrade(&self) -> WeakUnboundedSender<T> {
        self.chan.add_weak_sender();
        WeakUnboundedSender { chan: self.chan.clone() }
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.chan.sender_counts().0
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.chan.sender_counts().1
    }
}

impl<T> Clone for UnboundedSender<T> {
    fn clone(&self) -> Self {
        self.chan.add_sender();
        UnboundedSender { chan: self.chan.clone() }
    }
}

impl<T> Drop for UnboundedSender<T> {
    fn drop(&mut self) {
        self.chan.remove_sender();
    }
}

impl<T> fmt::Debug for UnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnboundedSender").field("closed", &self.is_closed()).finish()
    }
}

/// A sender that does not keep the channel open.
pub struct WeakUnboundedSender<T> {
    chan: Arc<Chan<T>>,
}

impl<T> WeakUnboundedSender<T> {
    /// A sender, unless all are gone.
    pub fn upgrade(&self) -> Option<UnboundedSender<T>> {
        self.chan.revive_sender().then(|| UnboundedSender { chan: self.chan.clone() })
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.chan.sender_counts().0
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.chan.sender_counts().1
    }
}

impl<T> Clone for WeakUnboundedSender<T> {
    fn clone(&self) -> Self {
        self.chan.add_weak_sender();
        WeakUnboundedSender { chan: self.chan.clone() }
    }
}

impl<T> Drop for WeakUnboundedSender<T> {
    fn drop(&mut self) {
        self.chan.remove_weak_sender();
    }
}

impl<T> fmt::Debug for WeakUnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakUnboundedSender").finish_non_exhaustive()
    }
}

/// The receiving end of a channel without a bound.
pub struct UnboundedReceiver<T> {
    rx: Rx<T>,
}

impl<T> UnboundedReceiver<T> {
    /// Waits for the next value; `None` at the end of the channel.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing; the task may be woken once for no reason.
    pub fn recv(&mut self) -> Recv<'_, T> {
        Recv { rx: &mut self.rx }
    }

    /// Waits for values, and adds up to `limit` that are there to `buffer`. Returns how many;
    /// zero at the end of the channel, or if `limit` is zero.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: it adds values only when it is ready.
    pub fn recv_many<'a>(&'a mut self, buffer: &'a mut Vec<T>, limit: usize) -> RecvMany<'a, T> {
        RecvMany { rx: &mut self.rx, buffer, limit }
    }

    /// Takes the next value if there is one now.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.rx.try_recv()
    }

    /// The poll form of [`recv`](Self::recv).
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

    /// Waits for values by blocking the thread. See [`recv_many`](Self::recv_many).
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
        block_on(self.recv_many(buffer, limit))
    }

    /// Accepts no more values. Those that were accepted can still be received.
    pub fn close(&mut self) {
        self.rx.chan.close(false);
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

    /// Values that are there now.
    pub fn len(&self) -> usize {
        self.rx.len()
    }

    /// How many senders there are.
    pub fn sender_strong_count(&self) -> usize {
        self.rx.chan.sender_counts().0
    }

    /// How many weak senders there are.
    pub fn sender_weak_count(&self) -> usize {
        self.rx.chan.sender_counts().1
    }
}

impl<T> fmt::Debug for UnboundedReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rx.fmt(f)
    }
}
