//! A semaphore: a number of permits, taken and returned, first come first served.
//!
//! A face of the counting core in `permits.rs`, where states, protocol and proof are. The type is
//! in `semaphore/core.rs`, the permits are in `semaphore/permit.rs`; here are the ways to get one
//! and their futures, which hold the waiter's node, borrowed and owned.

mod core;
mod permit;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use raddle_base::wait::{WaitKind, Waiter};

use crate::block_on::{block_on, wait_timeout};
use crate::permits::{Denied, Need};

pub use self::core::{AddPermitsError, Semaphore};
pub use permit::{OwnedSemaphorePermit, SemaphorePermit};

impl Semaphore {
    /// Waits for one permit.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the place in the queue; a permit that was already on its way
    /// goes to the next waiter. A new call begins at the end.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed, also while waiting.
    #[track_caller]
    pub fn acquire(&self) -> Acquire<'_> {
        self.acquire_many(1)
    }

    /// Waits for `count` permits at once. See [`acquire`](Self::acquire).
    #[track_caller]
    pub fn acquire_many(&self, count: u32) -> Acquire<'_> {
        let node = Waiter::new(WaitKind::Permits, Need::none());
        Acquire { semaphore: self, count, node }
    }

    /// Takes one permit if it is free now.
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Takes `count` permits if they are free now.
    pub fn try_acquire_many(&self, count: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.permits.try_acquire(count as usize)?;
        Ok(SemaphorePermit::new(self, count))
    }

    /// Waits for one permit that owns a reference to the semaphore. See
    /// [`acquire`](Self::acquire).
    #[track_caller]
    pub fn acquire_owned(self: Arc<Self>) -> AcquireOwned {
        self.acquire_many_owned(1)
    }

    /// Waits for `count` permits that own a reference to the semaphore. See
    /// [`acquire`](Self::acquire).
    #[track_caller]
    pub fn acquire_many_owned(self: Arc<Self>, count: u32) -> AcquireOwned {
        let node = Waiter::new(WaitKind::Permits, Need::none());
        AcquireOwned { semaphore: self, count, node }
    }

    /// Takes one permit that owns a reference to the semaphore, if it is free now.
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// Takes `count` permits that own a reference to the semaphore, if they are free now.
    pub fn try_acquire_many_owned(
        self: Arc<Self>,
        count: u32,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.permits.try_acquire(count as usize)?;
        Ok(OwnedSemaphorePermit::new(self, count))
    }

    /// Blocks the thread until one permit is there. See [`acquire`](Self::acquire).
    ///
    /// # Errors
    ///
    /// If the semaphore is closed, also while waiting.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`acquire`](Self::acquire) there.
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire())
    }

    /// Blocks the thread until `count` permits are there. See
    /// [`blocking_acquire`](Self::blocking_acquire).
    #[track_caller]
    pub fn blocking_acquire_many(&self, count: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire_many(count))
    }

    /// As [`blocking_acquire`](Self::blocking_acquire) for at most `limit`; `None` when it is over.
    #[track_caller]
    pub fn blocking_acquire_timeout(
        &self,
        limit: Duration,
    ) -> Option<Result<SemaphorePermit<'_>, AcquireError>> {
        wait_timeout(self.acquire(), limit)
    }

    /// As [`blocking_acquire_many`](Self::blocking_acquire_many) for at most `limit`.
    #[track_caller]
    pub fn blocking_acquire_many_timeout(
        &self,
        count: u32,
        limit: Duration,
    ) -> Option<Result<SemaphorePermit<'_>, AcquireError>> {
        wait_timeout(self.acquire_many(count), limit)
    }
}

/// The future of [`Semaphore::acquire`] and [`Semaphore::acquire_many`].
///
/// It contains the waiter's place in the queue, so it must be pinned to be polled and cannot be
/// moved after:
///
/// ```compile_fail,E0277
/// fn movable<T: Unpin>(_: T) {}
/// let semaphore = raddle_sync::Semaphore::new(1);
/// movable(semaphore.acquire());
/// ```
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Acquire<'a> {
    semaphore: &'a Semaphore,
    count: u32,
    node: Waiter<Need>,
}

impl<'a> Future for Acquire<'a> {
    type Output = Result<SemaphorePermit<'a>, AcquireError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        // SAFETY: the node is pinned with the future that owns it, used with this semaphore and
        // count only, and cancelled when the future is dropped.
        let polled = unsafe {
            let node = Pin::new_unchecked(&this.node);
            this.semaphore.permits.poll_acquire(node, this.count as usize, cx)
        };
        polled.map(|result| match result {
            Ok(()) => Ok(SemaphorePermit::new(this.semaphore, this.count)),
            Err(_) => Err(AcquireError(())),
        })
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        // SAFETY: as in `poll`; a future that was polled was pinned and did not move since.
        unsafe {
            let node = Pin::new_unchecked(&self.node);
            self.semaphore.permits.cancel(node, self.count as usize);
        }
    }
}

/// The future of [`Semaphore::acquire_owned`] and [`Semaphore::acquire_many_owned`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct AcquireOwned {
    semaphore: Arc<Semaphore>,
    count: u32,
    node: Waiter<Need>,
}

impl Future for AcquireOwned {
    type Output = Result<OwnedSemaphorePermit, AcquireError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        // SAFETY: as for `Acquire`.
        let polled = unsafe {
            let node = Pin::new_unchecked(&this.node);
            this.semaphore.permits.poll_acquire(node, this.count as usize, cx)
        };
        polled.map(|result| match result {
            Ok(()) => Ok(OwnedSemaphorePermit::new(this.semaphore.clone(), this.count)),
            Err(_) => Err(AcquireError(())),
        })
    }
}

impl Drop for AcquireOwned {
    fn drop(&mut self) {
        // SAFETY: as for `Acquire`.
        unsafe {
            let node = Pin::new_unchecked(&self.node);
            self.semaphore.permits.cancel(node, self.count as usize);
        }
    }
}

/// The semaphore is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcquireError(());

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the semaphore is closed")
    }
}

impl Error for AcquireError {}

/// Why [`Semaphore::try_acquire`] gave no permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// Not enough permits are free, or others wait.
    NoPermits,
}

impl From<Denied> for TryAcquireError {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Closed => TryAcquireError::Closed,
            Denied::NotNow => TryAcquireError::NoPermits,
        }
    }
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryAcquireError::Closed => "the semaphore is closed",
            TryAcquireError::NoPermits => "no permits are free",
        })
    }
}

impl Error for TryAcquireError {}

#[cfg(all(test, not(loom)))]
#[path = "tests/semaphore.rs"]
mod tests;
#[cfg(all(test, not(loom)))]
#[path = "tests/semaphore_reduce.rs"]
mod tests_reduce;
