//! A word a thread can sleep on: the kernel's futex, or its model.
//!
//! The contract is the kernel's: [`Futex::wait`] sleeps only if the word still holds the expected
//! value, decided atomically against [`Futex::wake`]; it may return early for no reason.

use crate::clock::Instant;
use crate::shim::atomic::AtomicU32;

/// A 32-bit word to sleep on.
#[derive(Debug)]
pub struct Futex {
    word: AtomicU32,
    #[cfg(loom)]
    queue: (loom::sync::Mutex<()>, loom::sync::Condvar),
    #[cfg(shuttle)]
    line: crate::shim::world::Line,
}

impl Futex {
    crate::const_unless_loom! {
        /// A word that holds `value`.
        pub const fn new(value: u32) -> Self {
            Futex {
                word: AtomicU32::new(value),
                #[cfg(loom)]
                queue: (loom::sync::Mutex::new(()), loom::sync::Condvar::new()),
                #[cfg(shuttle)]
                line: crate::shim::world::Line::new(),
            }
        }
    }

    /// The word itself.
    #[inline]
    pub fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sleeps while the word holds `expected`, until woken or until `deadline`.
    ///
    /// Returns for a wake, a deadline, a changed word, a signal or no reason: the caller looks at
    /// the word and the clock.
    #[cfg(not(any(loom, shuttle)))]
    pub fn wait(&self, expected: u32, deadline: Option<Instant>) {
        // FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC, which is ours.
        let time = deadline.filter(|at| !at.is_far_future()).map(|at| libc::timespec {
            tv_sec: (at.as_nanos() / 1_000_000_000) as libc::time_t,
            tv_nsec: (at.as_nanos() % 1_000_000_000) as libc::c_long,
        });
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the word is a live, aligned u32 for the length of the call; `time` is null or
        // points at a timespec on this stack frame. Every error means "look again".
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.word.as_ptr(),
                libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG,
                expected,
                time,
                std::ptr::null::<u32>(),
                libc::FUTEX_BITSET_MATCH_ANY,
            );
        }
    }

    /// Wakes at most one sleeper.
    #[cfg(not(any(loom, shuttle)))]
    pub fn wake(&self) {
        // SAFETY: the kernel uses the address as a key and does not write through it.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.word.as_ptr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                1,
            );
        }
    }

    /// The model of the sleep: a queue under a lock; time does not pass.
    #[cfg(loom)]
    pub fn wait(&self, expected: u32, _deadline: Option<Instant>) {
        let guard = self.queue.0.lock().unwrap();
        // Relaxed: the lock orders this against `wake`, as the kernel's bucket lock does.
        if self.word.load(crate::shim::atomic::Ordering::Relaxed) == expected {
            drop(self.queue.1.wait(guard).unwrap());
        }
    }

    /// The model of the wake.
    #[cfg(loom)]
    pub fn wake(&self) {
        let _guard = self.queue.0.lock().unwrap();
        self.queue.1.notify_one();
    }

    /// The sleep of a thread of shuttle's. The place in the line is taken before the look at the
    /// word, so that no wake falls between the two.
    #[cfg(shuttle)]
    pub fn wait(&self, expected: u32, deadline: Option<Instant>) {
        let place = self.line.enter(deadline.map(Instant::as_nanos));
        // Relaxed: shuttle's atomics are sequentially consistent.
        if self.word.load(crate::shim::atomic::Ordering::Relaxed) == expected {
            place.sleep();
        }
        self.line.leave(&place);
    }

    /// The wake of a thread of shuttle's.
    #[cfg(shuttle)]
    pub fn wake(&self) {
        self.line.wake_one();
    }
}
