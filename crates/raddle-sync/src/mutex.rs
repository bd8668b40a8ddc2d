//! A mutex for async code: a fast path that may overtake, and a bound on being overtaken.
//!
//! Here is the lock as users see it. The state machine, with states, protocol and proof, is in
//! `mutex/raw.rs`; the type is in `mutex/lock.rs`, guards are in `mutex/guard.rs`, the future is in
//! `mutex/wait.rs`.

mod guard;
mod lock;
mod raw;
mod wait;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::block_on::{block_on, wait_timeout};

pub use guard::{
    Guard, Hold, Lockable, MappedGuard, MappedMutexGuard, MutexGuard, OwnedMappedMutexGuard,
    OwnedMutexGuard,
};
pub use lock::Mutex;
pub use raw::RawMutex;
pub use wait::Lock;

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the place in the queue; a lock that it had been handed, or a
    /// turn to try, passes on.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> Lock<&Self> {
        Lock::new(self)
    }

    /// As [`lock`](Self::lock), with a reference of its own.
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> Lock<Arc<Self>> {
        Lock::new(self)
    }

    /// Takes the lock if it is free now.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let held = self.raw.try_lock(Location::caller())?;
        // SAFETY: the lock was just taken.
        Some(unsafe { Guard::new(self, held) })
    }

    /// As [`try_lock`](Self::try_lock), with a reference of its own.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Option<OwnedMutexGuard<T>> {
        let held = self.raw.try_lock(Location::caller())?;
        // SAFETY: the lock was just taken.
        Some(unsafe { Guard::new(self, held) })
    }

    /// As [`lock`](Self::lock), blocking this thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`lock`](Self::lock) there.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        block_on(self.lock())
    }

    /// As [`lock_owned`](Self::lock_owned), blocking this thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`lock_owned`](Self::lock_owned) there.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        block_on(self.lock_owned())
    }

    /// As [`blocking_lock`](Self::blocking_lock), for at most `limit`.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_lock_timeout(&self, limit: Duration) -> Option<MutexGuard<'_, T>> {
        wait_timeout(self.lock(), limit)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiters = self.raw.state().1;
        let mut out = f.debug_struct("Mutex");
        match self.try_lock() {
            Some(guard) => out.field("data", &&*guard),
            None => out.field("data", &format_args!("<locked>")),
        };
        out.field("waiters", &waiters).finish()
    }
}

#[cfg(all(test, loom))]
#[path = "tests/mutex_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/mutex_order.rs"]
mod order;
#[cfg(all(test, not(loom)))]
#[path = "tests/mutex.rs"]
mod tests;
