//! The receiving end, one for both kinds of channel.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use raddle_base::shim::Arc;

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::mode::{Lagging, Mode};
use super::recv::{Recv, RecvMany};
use super::shared::{Cursor, Shared};
use crate::{block_on, wait_timeout};

/// The receiving end of a broadcast channel. More come from
/// [`Sender::subscribe`](super::Sender::subscribe) and [`resubscribe`](Self::resubscribe).
///
/// Values are cloned, with nothing locked, by all receivers but the last one to come, which gets
/// the value itself. A clone that panics loses nothing for others: the panic goes on, and for this
/// receiver the value counts as received.
///
/// Dropping a receiver drops the values that nobody else has yet to receive, one by one, with
/// nothing locked.
pub struct Receiver<T, M: Mode = Lagging> {
    pub(super) shared: Arc<Shared<T>>,
    pub(super) cursor: Cursor<T>,
    mode: PhantomData<fn() -> M>,
}

impl<T, M: Mode> Receiver<T, M> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        let cursor = shared.join(M::OVERWRITES);
        Receiver { shared, cursor, mode: PhantomData }
    }

    /// A new receiver, for the values that are sent from now on. In a channel that overwrites it
    /// allocates room for one value.
    pub fn resubscribe(&self) -> Self {
        Receiver::new(self.shared.clone())
    }

    /// Values that were sent and not received. In a channel that overwrites, some of them may have
    /// been overwritten: the next receive tells.
    pub fn len(&self) -> u64 {
        self.shared.unread(&self.cursor)
    }

    /// Whether there is nothing to receive now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all senders are gone. There may still be values.
    pub fn is_closed(&self) -> bool {
        self.shared.is_ended()
    }

    /// How many senders there are.
    pub fn sender_strong_count(&self) -> usize {
        self.shared.senders.strong()
    }

    /// How many weak senders there are.
    pub fn sender_weak_count(&self) -> usize {
        self.shared.senders.weak()
    }

    /// Whether both belong to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T: Clone, M: Mode> Receiver<T, M> {
    /// Waits for the next value.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// `Lagged` with the number of values that were overwritten before they were received; the
    /// next receive gives the oldest there is. `Closed` when all senders are gone and all values
    /// were received.
    #[inline]
    #[track_caller]
    pub fn recv(&mut self) -> Recv<'_, T> {
        Recv::new(&self.shared, &mut self.cursor)
    }

    /// Takes the next value if there is one now.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv), and `Empty` if there is none.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.shared.try_recv(&mut self.cursor)
    }

    /// Waits for values, and adds up to `limit` that are there to `buffer`. Returns how many, which
    /// is zero only if `limit` is.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: it adds values only when it is ready.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv), if that comes before the first value; later, the values are
    /// returned, and the next receive gives the error.
    #[track_caller]
    pub fn recv_many<'a>(&'a mut self, buffer: &'a mut Vec<T>, limit: usize) -> RecvMany<'a, T> {
        RecvMany::new(self.recv(), buffer, limit)
    }

    /// As [`recv`](Self::recv), by blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        block_on(self.recv())
    }

    /// As [`recv`](Self::recv), by blocking the thread for at most `limit`. A value that is there
    /// is received even with a limit of zero; a receive that ends by its limit took nothing.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv), and `Timeout` when the limit has passed.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv_timeout(&mut self, limit: Duration) -> Result<T, RecvTimeoutError> {
        match wait_timeout(self.recv(), limit) {
            Some(result) => result.map_err(RecvTimeoutError::from),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    /// As [`recv_many`](Self::recv_many), by blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv_many(
        &mut self,
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
        &mut self,
        buffer: &mut Vec<T>,
        limit: usize,
        time: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        match wait_timeout(self.recv_many(buffer, limit), time) {
            Some(result) => result.map_err(RecvTimeoutError::from),
            None => Err(RecvTimeoutError::Timeout),
        }
    }
}

// Nothing in it is pinned.
impl<T, M: Mode> Unpin for Receiver<T, M> {}

impl<T, M: Mode> Drop for Receiver<T, M> {
    fn drop(&mut self) {
        self.shared.leave(self.cursor.next, M::OVERWRITES);
    }
}

impl<T, M: Mode> fmt::Debug for Receiver<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("len", &self.len())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
