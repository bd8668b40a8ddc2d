//! A mutex and a condition variable without poison.
//!
//! A panic while an internal lock is held is a fault of raddle itself: no foreign code runs under
//! one. The data stays as it was left, and others go on.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

#[cfg(loom)]
use loom::sync as imp;
#[cfg(shuttle)]
use shuttle::sync as imp;
#[cfg(not(any(loom, shuttle)))]
use std::sync as imp;

/// Mutual exclusion for short critical sections.
#[derive(Debug, Default)]
pub struct Mutex<T>(imp::Mutex<T>);

/// The lock is held while this lives.
#[derive(Debug)]
pub struct MutexGuard<'a, T>(imp::MutexGuard<'a, T>, #[cfg(shuttle)] &'a Mutex<T>);

impl<T> Mutex<T> {
    crate::const_unless_loom! {
        /// An unlocked mutex.
        #[inline]
        pub const fn new(value: T) -> Self {
            Mutex(imp::Mutex::new(value))
        }
    }

    /// Waits for the lock.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.held(self.0.lock().unwrap_or_else(|poison| poison.into_inner()))
    }

    #[inline]
    fn held<'a>(&'a self, guard: imp::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        MutexGuard(
            guard,
            #[cfg(shuttle)]
            self,
        )
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(self.held(guard)),
            Err(std::sync::TryLockError::Poisoned(poison)) => Some(self.held(poison.into_inner())),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }

    /// The value, the mutex being owned.
    #[inline]
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(|poison| poison.into_inner())
    }

    /// The value, borrowed exclusively.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(|poison| poison.into_inner())
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// A condition to wait for under a [`Mutex`].
#[derive(Debug, Default)]
pub struct Condvar(#[cfg(not(shuttle))] imp::Condvar, #[cfg(shuttle)] crate::shim::world::Line);

#[cfg(not(shuttle))]
impl Condvar {
    crate::const_unless_loom! {
        /// A condition nobody waits for.
        #[inline]
        pub const fn new() -> Self {
            Condvar(imp::Condvar::new())
        }
    }

    /// Releases the lock, waits for a notification, takes the lock again. May return spuriously.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        MutexGuard(self.0.wait(guard.0).unwrap_or_else(|poison| poison.into_inner()))
    }

    /// As [`wait`](Self::wait), for at most `limit`; true if the limit ended it. Under loom, which
    /// has no time, it waits without a limit.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
    ) -> (MutexGuard<'a, T>, bool) {
        #[cfg(not(loom))]
        {
            let (guard, result) =
                self.0.wait_timeout(guard.0, limit).unwrap_or_else(|poison| poison.into_inner());
            (MutexGuard(guard), result.timed_out())
        }
        #[cfg(loom)]
        {
            let _ = limit;
            (self.wait(guard), false)
        }
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

#[cfg(shuttle)]
impl Condvar {
    /// A condition nobody waits for.
    pub const fn new() -> Self {
        Condvar(crate::shim::world::Line::new())
    }

    /// Releases the lock, waits for a notification, takes the lock again.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.sleep(guard, None).0
    }

    /// As [`wait`](Self::wait), for at most `limit` of the run's own time.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
    ) -> (MutexGuard<'a, T>, bool) {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        self.sleep(guard, Some(crate::shim::world::nanos().saturating_add(limit)))
    }

    fn sleep<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        deadline: Option<u64>,
    ) -> (MutexGuard<'a, T>, bool) {
        let (place, mutex) = (self.0.enter(deadline), guard.1);
        drop(guard);
        place.sleep();
        let late = self.0.leave(&place);
        (mutex.lock(), late)
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        self.0.wake_one();
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        self.0.wake_all();
    }
}
