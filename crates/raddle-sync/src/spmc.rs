//! Channels with one sender and many receivers that take turns: for handing out work.
//!
//! A typed face of [`mpmc`] and nothing more: the sender cannot be cloned, so that the
//! order of values is the order of the program that sends them, and the end is where that program
//! drops its sender. All promises are those of [`mpmc`], whose receivers, futures,
//! permits and errors these are. A core of its own would not pay: of a send's cost one exchange is
//! left, and receivers that take turns need that in any case. As a sink, or with permits that own
//! their sender, it is [`Sender::into_shared`]'s.
//!
//! ```
//! use raddle_sync::spmc;
//!
//! let (tx, rx) = spmc::bounded(2);
//! let workers: Vec<_> = (0..3)
//!     .map(|_| {
//!         let rx = rx.clone();
//!         std::thread::spawn(move || std::iter::from_fn(|| rx.blocking_recv().ok()).count())
//!     })
//!     .collect();
//! for job in 0..10 {
//!     tx.blocking_send(job).unwrap();
//! }
//! drop(tx);
//! assert_eq!(workers.into_iter().map(|worker| worker.join().unwrap()).sum::<usize>(), 10);
//! ```

use std::fmt;
use std::future::Future;
use std::time::Duration;

use crate::mpmc;
pub use crate::mpmc::{
    Bounded, Closed, HasRoom, Kind, Overwriting, Permit, PermitIterator, Receiver, ReceiverStream,
    Recv, RecvError, RecvMany, RecvTimeoutError, Rendezvous, Reserve, ReserveMany, SendError,
    SendTimeout, SendTimeoutError, Sending, TryRecvError, TrySendError, Unbounded, Waits,
    WeakReceiver,
};

/// The only sending end of a channel.
///
/// ```compile_fail,E0599
/// let (tx, _rx) = raddle_sync::spmc::bounded::<u8>(1);
/// let second = tx.clone();
/// ```
pub struct Sender<T, K: Kind = Bounded> {
    inner: mpmc::Sender<T, K>,
}

/// Makes a channel with room for `capacity` values. See [`mpmc::bounded`].
///
/// # Panics
///
/// If `capacity` is zero, or more than memory can hold.
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    face(mpmc::bounded(capacity))
}

/// Makes a channel without a bound. See [`mpmc::unbounded`].
pub fn unbounded<T>() -> (Sender<T, Unbounded>, Receiver<T, Unbounded>) {
    face(mpmc::unbounded())
}

/// Makes a channel without room: a send is over when a receiver has taken the value. See
/// [`mpmc::rendezvous`].
pub fn rendezvous<T>() -> (Sender<T, Rendezvous>, Receiver<T, Rendezvous>) {
    face(mpmc::rendezvous())
}

/// Makes a channel that keeps the newest `capacity` values. See [`mpmc::overwriting`].
///
/// # Panics
///
/// If `capacity` is zero, or more than memory can hold.
#[track_caller]
pub fn overwriting<T>(capacity: usize) -> (Sender<T, Overwriting>, Receiver<T, Overwriting>) {
    face(mpmc::overwriting(capacity))
}

fn face<T, K: Kind>(
    (inner, receiver): (mpmc::Sender<T, K>, Receiver<T, K>),
) -> (Sender<T, K>, Receiver<T, K>) {
    (Sender { inner }, receiver)
}

impl<T, K: Kind> Sender<T, K> {
    /// Accepts nothing new, and refuses a send that waits. See [`mpmc::Sender::close`].
    pub fn close(&self) -> bool {
        self.inner.close()
    }

    /// Waits until the channel is closed or all receivers are gone. Dropping the future loses
    /// nothing.
    #[track_caller]
    pub fn closed(&self) -> Closed<'_> {
        self.inner.closed()
    }

    /// As [`closed`](Self::closed), blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_closed(&self) {
        self.inner.blocking_closed();
    }

    /// As [`closed`](Self::closed), blocking the thread for at most `limit`; whether it came true.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_closed_timeout(&self, limit: Duration) -> bool {
        self.inner.blocking_closed_timeout(limit)
    }

    /// Whether the channel is closed or all receivers are gone.
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Values in the channel.
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// Whether there is no value in the channel.
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.inner.receiver_count()
    }

    /// This end as one that can be cloned.
    pub fn into_shared(self) -> mpmc::Sender<T, K> {
        self.inner
    }
}

impl<T, K: Waits> Sender<T, K> {
    /// Sends a value, waiting for room, or in a rendezvous for a receiver to take it. Errors and
    /// cancel safety as of [`mpmc::Sender::send`]: dropping it takes the value back unless it was
    /// taken, and then it was sent.
    #[inline]
    #[track_caller]
    pub fn send(&self, value: T) -> Sending<'_, T> {
        self.inner.send(value)
    }

    /// Sends a value if that needs no waiting. See [`mpmc::Sender::try_send`].
    #[inline]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.inner.try_send(value)
    }

    /// As [`send`](Self::send), until `time_is_up` is ready. See [`mpmc::Sender::send_timeout`].
    #[track_caller]
    pub fn send_timeout<F: Future>(&self, value: T, time_is_up: F) -> SendTimeout<'_, T, F> {
        self.inner.send_timeout(value, time_is_up)
    }

    /// As [`send`](Self::send), blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        self.inner.blocking_send(value)
    }

    /// As [`send`](Self::send), blocking the thread for at most `limit`.
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
        self.inner.blocking_send_timeout(value, limit)
    }
}

impl<T> Sender<T> {
    /// Waits for room for one value, and reserves it. Cancel safety as of
    /// [`mpmc::Sender::reserve`]: a place already granted comes back.
    #[track_caller]
    pub fn reserve(&self) -> Reserve<'_, T> {
        self.inner.reserve()
    }

    /// Reserves room for one value if there is some now. See [`mpmc::Sender::try_reserve`].
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.inner.try_reserve()
    }

    /// Waits for room for `count` values at once, and reserves it. Cancel safety, errors and panics
    /// as of [`mpmc::Sender::reserve_many`].
    #[track_caller]
    pub fn reserve_many(&self, count: usize) -> ReserveMany<'_, T> {
        self.inner.reserve_many(count)
    }

    /// Reserves room for `count` values if there is enough now. See
    /// [`mpmc::Sender::try_reserve_many`].
    #[track_caller]
    pub fn try_reserve_many(
        &self,
        count: usize,
    ) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.inner.try_reserve_many(count)
    }

    /// As [`reserve`](Self::reserve), blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_reserve(&self) -> Result<Permit<'_, T>, SendError<()>> {
        self.inner.blocking_reserve()
    }

    /// As [`reserve`](Self::reserve), blocking the thread for at most `limit`; nothing if that
    /// passed.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_reserve_timeout(
        &self,
        limit: Duration,
    ) -> Option<Result<Permit<'_, T>, SendError<()>>> {
        self.inner.blocking_reserve_timeout(limit)
    }

    /// Sends a value without waiting; the oldest may be pushed out. See
    /// [`mpmc::Sender::force_send`].
    pub fn force_send(&self, value: T) -> Result<Option<T>, TrySendError<T>> {
        self.inner.force_send(value)
    }
}

impl<T, K: HasRoom> Sender<T, K> {
    /// The room that the channel was made with.
    pub fn capacity(&self) -> usize {
        self.inner.capacity()
    }

    /// Whether all room is taken or reserved.
    pub fn is_full(&self) -> bool {
        self.inner.is_full()
    }
}

impl<T> Sender<T, Unbounded> {
    /// Sends a value, without waiting. The value comes back if it would not be received.
    #[inline]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.inner.send(value)
    }
}

impl<T> Sender<T, Overwriting> {
    /// Sends a value, without waiting; returns the oldest if it had to be pushed out. The value
    /// comes back if it would not be received.
    pub fn send(&self, value: T) -> Result<Option<T>, SendError<T>> {
        self.inner.send(value)
    }
}

impl<T, K: Kind> fmt::Debug for Sender<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[cfg(all(test, not(loom)))]
#[path = "tests/spmc.rs"]
mod tests;
