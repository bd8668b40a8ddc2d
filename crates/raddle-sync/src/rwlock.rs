//! A reader–writer lock: many readers or one writer, with a bound on how long either waits.
//!
//! Here is the lock as users see it. The state machine, with states, protocol and proof, is in
//! `rwlock/raw.rs`; the type is in `rwlock/lock.rs`, guards are in `rwlock/guard.rs`, futures in
//! `rwlock/wait.rs` and `rwlock/upgrade.rs`.

mod admit;
mod guard;
mod limit;
mod lock;
mod raw;
mod upgrade;
mod wait;
mod word;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::block_on::{block_on, wait_timeout};
use word::Kind;

pub use guard::{
    Exclusive, Guard, Hold, MappedWriteGuard, MayUpgrade, OwnedRwLockMappedWriteGuard,
    OwnedRwLockReadGuard, OwnedRwLockUpgradableGuard, OwnedRwLockWriteGuard, ReadGuard, Reads,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockUpgradableGuard, RwLockWriteGuard,
    UpgradableGuard, Way, WriteGuard, Writes, WritesPart,
};
pub use lock::RwLock;
pub use raw::RawRwLock;
pub use upgrade::Upgrade;
pub use wait::{Lockable, Read, Upgradable, Write};

impl<T: ?Sized> RwLock<T> {
    /// Waits until nobody writes, and reads.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the place in the queue, and a lock that it had been granted.
    ///
    /// # Panics
    ///
    /// When polled with 33 million readers inside. A lock with a limit has the reader wait.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> Read<&Self> {
        Read::new(self)
    }

    /// Waits until nobody reads or writes, and writes.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the place in the queue, and a lock that it had been granted;
    /// readers that it kept out go in at once.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> Write<&Self> {
        Write::new(self)
    }

    /// Waits until nobody writes or reads upgradably, and reads upgradably.
    ///
    /// # Cancel safety
    ///
    /// As for [`read`](Self::read).
    #[inline]
    #[track_caller]
    pub fn upgradable_read(&self) -> Upgradable<&Self> {
        Upgradable::new(self)
    }

    /// Reads, if nobody writes or waits for writing.
    #[inline]
    #[track_caller]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        let held = self.raw.try_enter(Kind::Read, Location::caller())?;
        // SAFETY: the lock was just taken for reading.
        Some(unsafe { wait::guard(self, held) })
    }

    /// Writes, if nobody reads, writes or waits.
    #[inline]
    #[track_caller]
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        let held = self.raw.try_enter(Kind::Write, Location::caller())?;
        // SAFETY: the lock was just taken for writing.
        Some(unsafe { wait::guard(self, held) })
    }

    /// Reads upgradably, if nobody writes, reads upgradably or waits.
    #[inline]
    #[track_caller]
    pub fn try_upgradable_read(&self) -> Option<RwLockUpgradableGuard<'_, T>> {
        let held = self.raw.try_enter(Kind::Upgradable, Location::caller())?;
        // SAFETY: the lock was just taken for upgradable reading.
        Some(unsafe { wait::guard(self, held) })
    }

    /// As [`read`](Self::read), with a reference of its own.
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> Read<Arc<Self>> {
        Read::new(self)
    }

    /// As [`write`](Self::write), with a reference of its own.
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> Write<Arc<Self>> {
        Write::new(self)
    }

    /// As [`upgradable_read`](Self::upgradable_read), with a reference of its own.
    #[track_caller]
    pub fn upgradable_read_owned(self: Arc<Self>) -> Upgradable<Arc<Self>> {
        Upgradable::new(self)
    }

    /// As [`try_read`](Self::try_read), with a reference of its own.
    #[track_caller]
    pub fn try_read_owned(self: Arc<Self>) -> Option<OwnedRwLockReadGuard<T>> {
        let held = self.raw.try_enter(Kind::Read, Location::caller())?;
        // SAFETY: the lock was just taken for reading.
        Some(unsafe { wait::guard(self, held) })
    }

    /// As [`try_write`](Self::try_write), with a reference of its own.
    #[track_caller]
    pub fn try_write_owned(self: Arc<Self>) -> Option<OwnedRwLockWriteGuard<T>> {
        let held = self.raw.try_enter(Kind::Write, Location::caller())?;
        // SAFETY: the lock was just taken for writing.
        Some(unsafe { wait::guard(self, held) })
    }

    /// As [`try_upgradable_read`](Self::try_upgradable_read), with a reference of its own.
    #[track_caller]
    pub fn try_upgradable_read_owned(self: Arc<Self>) -> Option<OwnedRwLockUpgradableGuard<T>> {
        let held = self.raw.try_enter(Kind::Upgradable, Location::caller())?;
        // SAFETY: the lock was just taken for upgradable reading.
        Some(unsafe { wait::guard(self, held) })
    }

    /// As [`read`](Self::read), blocking this thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`read`](Self::read) there.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        block_on(self.read())
    }

    /// As [`write`](Self::write), blocking this thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`write`](Self::write) there.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        block_on(self.write())
    }

    /// As [`upgradable_read`](Self::upgradable_read), blocking this thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_upgradable_read(&self) -> RwLockUpgradableGuard<'_, T> {
        block_on(self.upgradable_read())
    }

    /// As [`blocking_read`](Self::blocking_read), for at most `limit`.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_read_timeout(&self, limit: Duration) -> Option<RwLockReadGuard<'_, T>> {
        wait_timeout(self.read(), limit)
    }

    /// As [`blocking_write`](Self::blocking_write), for at most `limit`.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_write_timeout(&self, limit: Duration) -> Option<RwLockWriteGuard<'_, T>> {
        wait_timeout(self.write(), limit)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (readers, writer, queued) = self.raw.state();
        let mut out = f.debug_struct("RwLock");
        match self.try_read() {
            Some(guard) => out.field("data", &&*guard),
            None => out.field("data", &format_args!("<locked>")),
        };
        out.field("readers", &readers).field("writer", &writer).field("waiters", &queued).finish()
    }
}

#[cfg(all(test, not(loom)))]
#[path = "tests/rwlock_histories.rs"]
mod histories;
#[cfg(all(test, loom))]
#[path = "tests/rwlock_limit_models.rs"]
mod limit_models;
#[cfg(all(test, not(loom)))]
#[path = "tests/rwlock_limit.rs"]
mod limits;
#[cfg(all(test, loom))]
#[path = "tests/rwlock_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/rwlock_order.rs"]
mod order;
#[cfg(all(test, not(loom)))]
#[path = "tests/rwlock.rs"]
mod tests;
