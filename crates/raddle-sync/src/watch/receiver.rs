//! The receiving end: looks at the value, and waits for it to change.

use std::fmt;
use std::time::Duration;

use raddle_base::shim::Arc;

use super::changed::{Changed, Recv, WaitFor};
use super::error::{RecvError, RecvTimeoutError};
use super::guard::Ref;
use super::shared::{NEVER, Shared};
use crate::{block_on, wait_timeout};

/// The receiving end of a watch channel. Clone it for more receivers: the clone has seen what this
/// one has.
///
/// A look at the value ([`borrow`](Self::borrow) and those like it) is one exchange, and one more
/// when the guard goes. It blocks the thread while a sender changes the value, or waits for guards
/// to go; so on a thread that holds a guard of the same channel already it may block for ever.
pub struct Receiver<T> {
    pub(super) shared: Arc<Shared<T>>,
    pub(super) seen: u64,
}

impl<T> Receiver<T> {
    /// One of those that were counted in.
    pub(super) fn new(shared: Arc<Shared<T>>, seen: u64) -> Self {
        Receiver { shared, seen }
    }

    /// A look at the value, which does not count as seen by it.
    #[inline]
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref::new(self.shared.read(), self.seen)
    }

    /// A look at the value, which counts as seen: the next [`changed`](Self::changed) waits for a
    /// later one.
    #[inline]
    #[track_caller]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let reading = self.shared.read();
        let seen = std::mem::replace(&mut self.seen, reading.version);
        Ref::new(reading, seen)
    }

    /// Whether there is a value that was not seen: one load.
    ///
    /// # Errors
    ///
    /// If there is none and there will be none: all senders are gone.
    #[inline]
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        self.shared.news(self.seen).map_or(Ok(false), |news| news.map(|_| true))
    }

    /// Waits until there is a value that was not seen, and marks it as seen.
    ///
    /// Of several values that were sent meanwhile only the last can be seen.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: only when it is ready it marks the value.
    ///
    /// # Errors
    ///
    /// If there will be none: all senders are gone, and the last value was seen.
    #[inline]
    #[track_caller]
    pub fn changed(&mut self) -> Changed<'_, T> {
        Changed::new(&self.shared, &mut self.seen)
    }

    /// Waits for a value that fulfils the condition, the present one among them, marks it as
    /// seen, and gives a look at it.
    ///
    /// The closure looks at the value while it is locked: it must not send, nor look at the
    /// value by another way. If it panics, the panic goes on, and nothing else has happened.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing, but values that did not fulfil the condition count as
    /// seen.
    ///
    /// # Errors
    ///
    /// If all senders are gone and the last value does not fulfil the condition.
    #[track_caller]
    pub fn wait_for<F: FnMut(&T) -> bool>(&mut self, condition: F) -> WaitFor<'_, T, F> {
        WaitFor::new(&self.shared, &mut self.seen, condition)
    }

    /// Whether all senders are gone. The last value may be unseen yet.
    pub fn is_closed(&self) -> bool {
        self.shared.is_ended()
    }

    /// Counts the value as not seen.
    pub fn mark_changed(&mut self) {
        self.seen = NEVER;
    }

    /// Counts the value as seen.
    pub fn mark_unchanged(&mut self) {
        self.seen = self.shared.version();
    }

    /// Whether both belong to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// As [`changed`](Self::changed), by blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_changed(&mut self) -> Result<(), RecvError> {
        block_on(self.changed())
    }

    /// As [`changed`](Self::changed), by blocking the thread for at most `limit`. A change that is
    /// there is found even with a limit of zero.
    ///
    /// # Errors
    ///
    /// `Timeout` when the limit has passed, `Disconnected` at the end of the channel.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_changed_timeout(&mut self, limit: Duration) -> Result<(), RecvTimeoutError> {
        timed(wait_timeout(self.changed(), limit))
    }

    /// As [`wait_for`](Self::wait_for), by blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_wait_for(
        &mut self,
        condition: impl FnMut(&T) -> bool,
    ) -> Result<Ref<'_, T>, RecvError> {
        block_on(self.wait_for(condition))
    }

    /// As [`wait_for`](Self::wait_for), by blocking the thread for at most `limit`.
    ///
    /// # Errors
    ///
    /// As [`blocking_changed_timeout`](Self::blocking_changed_timeout).
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_wait_for_timeout(
        &mut self,
        condition: impl FnMut(&T) -> bool,
        limit: Duration,
    ) -> Result<Ref<'_, T>, RecvTimeoutError> {
        timed(wait_timeout(self.wait_for(condition), limit))
    }
}

impl<T: Clone> Receiver<T> {
    /// A clone of the value, which does not count as seen by it.
    ///
    /// Values are cloned while they are locked for reading, and nothing else is: a clone that
    /// looks at the channel's value in turn may block, and one that sends blocks for ever.
    #[track_caller]
    pub fn get(&self) -> T {
        T::clone(&self.borrow())
    }

    /// Waits until there is a value that was not seen, marks it as seen, and clones it.
    ///
    /// If the clone panics, the value counts as not seen. See [`get`](Self::get).
    ///
    /// # Cancel safety
    ///
    /// As [`changed`](Self::changed).
    ///
    /// # Errors
    ///
    /// As [`changed`](Self::changed).
    #[track_caller]
    pub fn recv(&mut self) -> Recv<'_, T> {
        Recv::new(&self.shared, &mut self.seen)
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

    /// As [`recv`](Self::recv), by blocking the thread for at most `limit`.
    ///
    /// # Errors
    ///
    /// As [`blocking_changed_timeout`](Self::blocking_changed_timeout).
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv_timeout(&mut self, limit: Duration) -> Result<T, RecvTimeoutError> {
        timed(wait_timeout(self.recv(), limit))
    }
}

fn timed<R>(result: Option<Result<R, RecvError>>) -> Result<R, RecvTimeoutError> {
    match result {
        Some(result) => result.map_err(|RecvError| RecvTimeoutError::Disconnected),
        None => Err(RecvTimeoutError::Timeout),
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.shared.audience.join();
        Receiver { shared: self.shared.clone(), seen: self.seen }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.audience.leave();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("changed", &self.has_changed())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
