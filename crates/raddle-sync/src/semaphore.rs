//! A semaphore: a number of permits, taken and returned, first come first served.
//!
//! A face of the counting core in `permits.rs`, where states, protocol and proof are. Here are
//! the futures, which hold the waiter's node, and the permits, which return themselves: borrowed
//! and owned twins of both.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use raddle_base::wait::{WaitKind, Waiter};

use crate::block_on::{block_on, wait_timeout};
use crate::permits::{Denied, Need, Permits};

/// Limits how many may do something at the same time.
///
/// Permits are given out strictly first come first served: a waiter that wants many collects what
/// comes back until it has enough, and nobody behind it overtakes, [`try_acquire`] included. A
/// wait for more permits than will ever exist never ends.
///
/// With nobody waiting, taking and returning permits is one atomic exchange each. Waiting does
/// not allocate. What happened before a permit was returned is visible to whoever takes it next. 24
/// bytes.
///
/// [`try_acquire`]: Self::try_acquire
///
/// ```
/// use raddle_sync::{Semaphore, block_on};
///
/// static CONNECTIONS: Semaphore = Semaphore::const_new(2);
///
/// let first = CONNECTIONS.try_acquire().unwrap();
/// let second = block_on(CONNECTIONS.acquire()).unwrap();
/// assert!(CONNECTIONS.try_acquire().is_err());
/// drop(first);
/// assert_eq!(CONNECTIONS.available_permits(), 1);
/// # drop(second);
/// ```
#[derive(Debug)]
pub struct Semaphore {
    pub(crate) permits: Permits,
}

impl Semaphore {
    /// The most permits a semaphore can hold.
    pub const MAX_PERMITS: usize = <Permits>::MAX;

    raddle_base::const_unless_loom! {
        /// A semaphore with `permits` free permits.
        ///
        /// # Panics
        ///
        /// If `permits` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
        pub const fn new(permits: usize) -> Self {
            Semaphore { permits: Permits::new(permits) }
        }

        /// The same as [`new`](Self::new), under tokio's name.
        ///
        /// # Panics
        ///
        /// If `permits` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
        pub const fn const_new(permits: usize) -> Self {
            Semaphore::new(permits)
        }
    }

    /// Permits that are free now. While somebody waits there are none.
    pub fn available_permits(&self) -> usize {
        self.permits.available()
    }

    /// Adds `count` permits: to those who wait, and what is left to the free ones. Also how
    /// permits come back that were [forgotten](SemaphorePermit::forget).
    ///
    /// # Panics
    ///
    /// If more than [`MAX_PERMITS`](Self::MAX_PERMITS) would be free; the count stays as it was.
    pub fn add_permits(&self, count: usize) {
        self.permits.release(count);
    }

    /// Removes up to `count` free permits for good, and tells how many.
    pub fn forget_permits(&self, count: usize) -> usize {
        self.permits.forget(count)
    }

    /// Removes all free permits for good, and tells how many they were.
    pub fn drain_permits(&self) -> usize {
        self.permits.forget(usize::MAX)
    }

    /// Takes `count` permits away for good, and never waits: those that are free at once, and for
    /// the rest the next ones that come back, before anybody who waits gets any.
    ///
    /// # Panics
    ///
    /// If more than [`MAX_PERMITS`](Self::MAX_PERMITS) would be owed; the count stays as it was.
    ///
    /// ```
    /// let semaphore = raddle_sync::Semaphore::new(3);
    /// let two = semaphore.try_acquire_many(2).unwrap();
    /// semaphore.reduce_permits(2);
    /// assert_eq!((semaphore.available_permits(), semaphore.owed_permits()), (0, 1));
    /// drop(two);
    /// assert_eq!((semaphore.available_permits(), semaphore.owed_permits()), (1, 0));
    /// ```
    pub fn reduce_permits(&self, count: usize) {
        self.permits.reduce(count);
    }

    /// Permits that were [taken away](Self::reduce_permits) while in use and have not come back.
    pub fn owed_permits(&self) -> usize {
        self.permits.debt()
    }

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

    /// Gives out no permits any more, and ends all waits with an error. Permits that are held, or
    /// were granted before, stay valid.
    pub fn close(&self) {
        self.permits.close();
    }

    /// Whether [`close`](Self::close) was called.
    pub fn is_closed(&self) -> bool {
        self.permits.is_closed()
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

/// Permits of a semaphore, returned when this is dropped.
#[must_use = "permits are returned as soon as this is dropped"]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    count: u32,
}

impl<'a> SemaphorePermit<'a> {
    pub(crate) fn new(semaphore: &'a Semaphore, count: u32) -> Self {
        SemaphorePermit { semaphore, count }
    }

    /// Keeps the permits from coming back, for good or until
    /// [`add_permits`](Semaphore::add_permits).
    pub fn forget(mut self) {
        self.count = 0;
    }

    /// Takes over the permits of `other`.
    ///
    /// # Panics
    ///
    /// If they belong to different semaphores, or the sum overflows.
    #[track_caller]
    pub fn merge(&mut self, mut other: Self) {
        assert!(
            std::ptr::eq(self.semaphore, other.semaphore),
            "permits of different semaphores cannot be merged"
        );
        self.count = self.count.checked_add(other.count).expect("too many permits to merge");
        other.count = 0;
    }

    /// Splits `count` permits off; `None` if there are fewer.
    pub fn split(&mut self, count: usize) -> Option<Self> {
        let count = u32::try_from(count).ok()?;
        self.count = self.count.checked_sub(count)?;
        Some(SemaphorePermit { semaphore: self.semaphore, count })
    }

    /// How many permits this holds.
    pub fn num_permits(&self) -> usize {
        self.count as usize
    }
}

impl Drop for SemaphorePermit<'_> {
    fn drop(&mut self) {
        if self.count > 0 {
            self.semaphore.permits.release(self.count as usize);
        }
    }
}

impl fmt::Debug for SemaphorePermit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SemaphorePermit").field("permits", &self.count).finish_non_exhaustive()
    }
}

/// Permits that own a reference to their semaphore, returned when this is dropped.
#[must_use = "permits are returned as soon as this is dropped"]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    count: u32,
}

impl OwnedSemaphorePermit {
    pub(crate) fn new(semaphore: Arc<Semaphore>, count: u32) -> Self {
        OwnedSemaphorePermit { semaphore, count }
    }

    /// Keeps the permits from coming back, for good or until
    /// [`add_permits`](Semaphore::add_permits).
    pub fn forget(mut self) {
        self.count = 0;
    }

    /// Takes over the permits of `other`.
    ///
    /// # Panics
    ///
    /// If they belong to different semaphores, or the sum overflows.
    #[track_caller]
    pub fn merge(&mut self, mut other: Self) {
        assert!(
            Arc::ptr_eq(&self.semaphore, &other.semaphore),
            "permits of different semaphores cannot be merged"
        );
        self.count = self.count.checked_add(other.count).expect("too many permits to merge");
        other.count = 0;
    }

    /// Splits `count` permits off; `None` if there are fewer.
    pub fn split(&mut self, count: usize) -> Option<Self> {
        let count = u32::try_from(count).ok()?;
        self.count = self.count.checked_sub(count)?;
        Some(OwnedSemaphorePermit { semaphore: self.semaphore.clone(), count })
    }

    /// How many permits this holds.
    pub fn num_permits(&self) -> usize {
        self.count as usize
    }

    /// The semaphore these permits belong to.
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }
}

impl Drop for OwnedSemaphorePermit {
    fn drop(&mut self) {
        let count = mem::take(&mut self.count);
        if count > 0 {
            self.semaphore.permits.release(count as usize);
        }
    }
}

impl fmt::Debug for OwnedSemaphorePermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedSemaphorePermit").field("permits", &self.count).finish_non_exhaustive()
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
