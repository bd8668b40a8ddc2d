//! The small lock of a wait queue, with a word beside it that is looked at without the lock.
//!
//! A primitive is a state word, a lock and a pointer or two. Lock and word share eight bytes here,
//! which makes the whole of a mutex sixteen. The critical sections are a few pointer writes on
//! data that one or two threads want, so the lock is released by a plain store, where a sleeping
//! lock needs a read-modify-write to see its sleepers. Who finds it taken spins, then yields its
//! processor, and in the end naps, so that a holder that lost its processor gets it back whatever
//! the priorities are. Nothing that may block, allocate or run foreign code belongs under it.
//!
//! Orderings: the exchange that takes the lock acquires and the store that frees it releases, as
//! in `spin.rs`, where the model is. Under a checker this is the checker's mutex, whose schedule
//! needs no spinning.

use std::fmt;
#[cfg(not(any(loom, shuttle)))]
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

#[cfg(not(any(loom, shuttle)))]
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

#[cfg(loom)]
use loom::sync as imp;
#[cfg(shuttle)]
use shuttle::sync as imp;

use crate::shim::atomic::AtomicU32;
#[cfg(not(any(loom, shuttle)))]
use crate::shim::cell::UnsafeCell;

/// Mutual exclusion for a handful of instructions, and a word.
pub struct Lock<T> {
    /// 0 free, 1 held.
    #[cfg(not(any(loom, shuttle)))]
    held: AtomicU32,
    word: AtomicU32,
    #[cfg(not(any(loom, shuttle)))]
    data: UnsafeCell<T>,
    #[cfg(any(loom, shuttle))]
    data: imp::Mutex<T>,
}

/// The lock is held while this lives.
///
/// Sharing the guard shares the data, so a guard over a cell stays on its thread:
///
/// ```compile_fail,E0277
/// use raddle_base::shim::lock::Lock;
///
/// let lock = Lock::new(0, std::cell::Cell::new(1));
/// let guard = lock.lock();
/// std::thread::scope(|scope| {
///     scope.spawn(|| guard.set(2));
/// });
/// ```
pub struct LockGuard<'a, T> {
    #[cfg(not(any(loom, shuttle)))]
    lock: &'a Lock<T>,
    /// Neither sent nor, but as said below, shared.
    #[cfg(not(any(loom, shuttle)))]
    thread: PhantomData<*const T>,
    #[cfg(any(loom, shuttle))]
    guard: imp::MutexGuard<'a, T>,
}

// SAFETY: the lock gives the data to one thread at a time, which is sending it.
#[cfg(not(any(loom, shuttle)))]
unsafe impl<T: Send> Send for Lock<T> {}
// SAFETY: as above.
#[cfg(not(any(loom, shuttle)))]
unsafe impl<T: Send> Sync for Lock<T> {}

// SAFETY: a shared guard gives out `&T` and nothing more, for which `T: Sync` is what it takes.
#[cfg(not(any(loom, shuttle)))]
unsafe impl<T: Sync> Sync for LockGuard<'_, T> {}

impl<T> Lock<T> {
    /// The word beside the lock. What it means is the user's business.
    #[inline]
    pub fn word(&self) -> &AtomicU32 {
        &self.word
    }
}

#[cfg(not(any(loom, shuttle)))]
impl<T> Lock<T> {
    /// A free lock over `data`, with `word` beside it.
    #[inline]
    pub const fn new(word: u32, data: T) -> Self {
        let data = UnsafeCell::new(data);
        Lock { held: AtomicU32::new(0), word: AtomicU32::new(word), data }
    }

    /// Waits for the lock.
    #[inline]
    pub fn lock(&self) -> LockGuard<'_, T> {
        // Acquire: what the last holder did is visible. Relaxed on failure: nothing was taken.
        if self.held.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            self.wait();
        }
        LockGuard { lock: self, thread: PhantomData }
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<LockGuard<'_, T>> {
        // As in `lock`.
        let taken = self.held.compare_exchange(0, 1, Acquire, Relaxed).is_ok();
        // Not `then_some`: a guard made for nothing would free the lock of its holder as it goes.
        taken.then(|| LockGuard { lock: self, thread: PhantomData })
    }

    #[cold]
    fn wait(&self) {
        let mut round = 0;
        loop {
            // Relaxed: a look that costs the holder no cache line; the exchange decides.
            let free = self.held.load(Relaxed) == 0;
            // Acquire: as in `lock`.
            if free && self.held.compare_exchange_weak(0, 1, Acquire, Relaxed).is_ok() {
                return;
            }
            match round {
                0..7 => (0..1 << round).for_each(|_| std::hint::spin_loop()),
                7..200 => std::thread::yield_now(),
                // A holder of lower priority than ours would never run.
                _ => std::thread::sleep(std::time::Duration::from_micros(50)),
            }
            round += 1;
        }
    }

    /// The data, the lock being owned.
    #[inline]
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }

    /// The data, borrowed exclusively.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut()
    }
}

#[cfg(any(loom, shuttle))]
impl<T> Lock<T> {
    crate::const_unless_loom! {
        /// The model of a free lock.
        pub const fn new(word: u32, data: T) -> Self {
            Lock { word: AtomicU32::new(word), data: imp::Mutex::new(data) }
        }
    }

    /// The model of taking it.
    pub fn lock(&self) -> LockGuard<'_, T> {
        LockGuard { guard: self.data.lock().unwrap() }
    }

    /// The model of trying to.
    pub fn try_lock(&self) -> Option<LockGuard<'_, T>> {
        self.data.try_lock().ok().map(|guard| LockGuard { guard })
    }

    /// The data, the lock being owned.
    pub fn into_inner(self) -> T {
        self.data.into_inner().unwrap()
    }

    /// The data, borrowed exclusively.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut().unwrap()
    }
}

impl<T> Deref for LockGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        #[cfg(not(any(loom, shuttle)))]
        // SAFETY: the lock is held, so nobody else touches the data until it is released.
        return self.lock.data.with(|data| unsafe { &*data });
        #[cfg(any(loom, shuttle))]
        return &self.guard;
    }
}

impl<T> DerefMut for LockGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        #[cfg(not(any(loom, shuttle)))]
        // SAFETY: as in `deref`.
        return self.lock.data.with_mut(|data| unsafe { &mut *data });
        #[cfg(any(loom, shuttle))]
        return &mut self.guard;
    }
}

#[cfg(not(any(loom, shuttle)))]
impl<T> Drop for LockGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // Release: publishes what was done under the lock. A plain store: nobody sleeps on it.
        self.lock.held.store(0, Release);
    }
}

impl<T> fmt::Debug for Lock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").finish_non_exhaustive()
    }
}

impl<T: fmt::Debug> fmt::Debug for LockGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
#[path = "../tests/lock.rs"]
mod tests;
