//! How long to spin before giving the processor away: spin, yield, then "go and park".

use crate::shim::{hint, thread};

/// Rounds of pure spinning: 2^0 to 2^6 pauses, about a microsecond in all.
const SPIN_LIMIT: u32 = 6;
/// Rounds after which spinning is pointless and the caller should park.
const YIELD_LIMIT: u32 = 10;

/// Exponential back-off for a loop that waits for another thread's next few instructions.
///
/// Use [`spin`](Self::spin) where another thread is certain to finish soon (it lost no lock), and
/// [`snooze`](Self::snooze) where it may be off the processor.
#[derive(Debug, Default)]
pub struct Backoff {
    step: u32,
}

impl Backoff {
    /// A fresh back-off.
    #[inline]
    pub const fn new() -> Self {
        Backoff { step: 0 }
    }

    /// Spins for a while that doubles with each call, up to 64 pauses.
    #[inline]
    pub fn spin(&mut self) {
        for _ in 0..1u32 << self.step.min(SPIN_LIMIT) {
            hint::spin_loop();
        }
        self.step = (self.step + 1).min(YIELD_LIMIT + 1);
    }

    /// Spins first, then gives the processor away.
    #[inline]
    pub fn snooze(&mut self) {
        if self.step <= SPIN_LIMIT {
            return self.spin();
        }
        thread::yield_now();
        self.step = (self.step + 1).min(YIELD_LIMIT + 1);
    }

    /// Whether waiting on like this is pointless and the caller should park.
    #[inline]
    pub fn is_completed(&self) -> bool {
        self.step > YIELD_LIMIT
    }
}

#[cfg(all(test, not(loom)))]
#[path = "tests/backoff.rs"]
mod tests;
