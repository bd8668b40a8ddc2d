//! The channel with a bound: senders wait for room.

use std::fmt;
use std::task::{Context, Poll};

use raddle_base::shim::Arc;

use super::chan::{Chan, Closed, UNBOUNDED};
use super::error::{SendError, TryRecvError, TrySendError};
use super::permit::{Permit, PermitIterator};
use super::receive::{Recv, RecvMany, Rx};
use super::reserve::{Reserve, ReserveMany, Sending};
use crate::block_on;
use crate::permits::{Denied, Permits};

/// Makes a channel with room for `buffer` values.
///
/// # Panics
///
/// If `buffer` is zero, or more than a [`Semaphore`](crate::Semaphore) can hold.
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    assert!(buffer > 0, "a bounded channel needs room for at least one value");
    assert!(buffer <= Permits::MAX && buffer != UNBOUNDED, "the bound of a channel is too large");
    let chan = Chan::new(buffer);
    (Sender { chan: chan.clone() }, Receiver { rx: Rx::new(chan) })
}

/// The sending end of a channel with a bound. Clone it for more senders.
pub struct Sender<T> {
    chan: Arc<Chan<T>>,
}

impl<T> Sender<T> {
    pub(super) fn chan(&self) -> &Chan<T> {
        &self.chan
    }

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
    pub fn send(&self, value: T) -> Sending<'_, T> {
        Sending::new(&self.chan, value)
    }

    /// Sends a value if there is room now and nobody waits for it.
    ///
    /// # Errors
    ///
    /// If there is no room, or the receiver is closed or gone: the value comes back.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        match self.chan.permits.try_acquire(1) {
            Ok(()) => self.chan.push(value).map_err(|value| {
                self.chan.return_places(1);
                TrySendError::Closed(value)
            }),
            Err(Denied::NotNow) => Err(TrySendError::Full(value)),
            Err(Denied::Closed) => Err(TrySendError::Closed(value)),
        }
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

    /// Waits for room for one value, and reserves it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the place in the queue; a place already granted goes to the
    /// next sender.
    ///
    /// # Errors
    ///
    /// If the receiver is closed or gone.
    #[track_caller]
    pub fn reserve(&self) -> Reserve<'_, T> {
        Reserve::new(&self.chan)
    }

    /// Waits for room for `count` values at once, and reserves it. Fails at once if that is more
    /// than the channel's capacity.
    #[track_caller]
    pub fn reserve_many(&self, count: usize) -> ReserveMany<'_, T> {
        ReserveMany::new(&self.chan, count)
    }

    /// Reserves room for one value if there is some now.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.take_places(1).map(|()| Permit::new(&self.chan))
    }

    /// Reserves room for `count` values if there is enough now.
    pub fn try_reserve_many(
        &self,
        count: usize,
    ) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.take_places(count).map(|()| PermitIterator::new(&self.chan, count))
    }

    pub(super) fn take_places(&self, count: usize) -> Result<(), TrySendError<()>> {
        self.chan.permits.try_acquire(count).map_err(|denied| match denied {
            Denied::NotNow => TrySendError::Full(()),
            Denied::Closed => TrySendError::Closed(()),
        })
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

    /// Room that is free now. While senders wait there is none.
    pub fn capacity(&self) -> usize {
        self.chan.permits.available()
    }

    /// The room that the channel was made with.
    pub fn max_capacity(&self) -> usize {
        self.chan.capacity
    }

    /// Whether both belong to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }

    /// A handle that does not keep the channel open.
    pub fn downgrade(&self) -> WeakSender<T> {
        self.chan.add_weak_sender();
        WeakSender { chan: self.chan.clone() }
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

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.chan.add_sender();
        Sender { chan: self.chan.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.chan.remove_sender();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("capacity", &self.capacity())
            .field("closed", &self.is_closed())
            .finish()
    }
}

/// A sender that does not keep the channel open.
pub struct WeakSender<T> {
    chan: Arc<Chan<T>>,
}

impl<T> WeakSender<T> {
    /// A sender, unless all are gone.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.chan.revive_sender().then(|| Sender { chan: self.chan.clone() })
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

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        self.chan.add_weak_sender();
        WeakSender { chan: self.chan.clone() }
    }
}

impl<T> Drop for WeakSender<T> {
    fn drop(&mut self) {
        self.chan.remove_weak_sender();
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}

/// The receiving end of a channel with a bound.
pub struct Receiver<T> {
    rx: Rx<T>,
}

impl<T> Receiver<T> {
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

    /// Lets nobody reserve room any more, and ends waits for it with an error. Values that were
    /// accepted, and those of places reserved before, can still be received.
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

    /// Room that is free now.
    pub fn capacity(&self) -> usize {
        self.rx.chan.permits.available()
    }

    /// The room that the channel was made with.
    pub fn max_capacity(&self) -> usize {
        self.rx.chan.capacity
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

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rx.fmt(f)
    }
}
