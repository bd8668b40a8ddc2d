//! The permits that a semaphore gives out: borrowed and owned twins, which return themselves.

use std::fmt;
use std::mem;
use std::sync::Arc;

use super::core::Semaphore;

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
            self.semaphore.permits.take_back(self.count as usize);
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
            self.semaphore.permits.take_back(count as usize);
        }
    }
}

impl fmt::Debug for OwnedSemaphorePermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedSemaphorePermit").field("permits", &self.count).finish_non_exhaustive()
    }
}
