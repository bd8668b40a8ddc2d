//! A lock for a handful of instructions that hardly anybody else ever wants.
//!
//! A std mutex pays for its sleepers on every release (a read-modify-write) and for poison on
//! both ends. Where the critical section is a few pointer writes on data that mostly one thread
//! uses, a word that is released by a plain store costs half. A waiter spins, then yields its
//! processor: it never sleeps, so do not hold this lock across anything that may block, allocate
//! a lot or run foreign code.

use crate::backoff::Backoff;
use crate::shim::atomic::AtomicU32;
use crate::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::shim::cell::UnsafeCell;

/// Data behind a spinning lock.
pub struct SpinLock<T> {
    /// 0 free, 1 held.
    word: AtomicU32,
    data: UnsafeCell<T>,
}

// SAFETY: the lock gives the data to one thread at a time, which is sending it.
unsafe impl<T: Send> Send for SpinLock<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    crate::const_unless_loom! {
        /// A free lock.
        pub const fn new(data: T) -> Self {
            SpinLock { word: AtomicU32::new(0), data: UnsafeCell::new(data) }
        }
    }

    /// Waits for the lock and runs `f` with the data. A panic of `f` releases the lock.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // Acquire: what the last holder did is visible. Relaxed on failure: nothing was taken.
        if self.word.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            self.wait();
        }
        let _held = Held(&self.word);
        // SAFETY: the word is ours, so nobody else touches the data until it is released.
        self.data.with_mut(|data| f(unsafe { &mut *data }))
    }

    #[cold]
    fn wait(&self) {
        let mut backoff = Backoff::new();
        loop {
            // Relaxed: a look that costs the holder no cache line; the exchange decides.
            if self.word.load(Relaxed) == 0
                && self.word.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
            {
                return;
            }
            backoff.snooze();
        }
    }
}

struct Held<'a>(&'a AtomicU32);

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release: publishes what was done under the lock. A plain store: nobody sleeps.
        self.0.store(0, Release);
    }
}

impl<T> std::fmt::Debug for SpinLock<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpinLock").finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "tests/spin.rs"]
mod tests;
