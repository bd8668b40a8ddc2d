//! A runtime's coarse clock: the time when somebody last looked at a real one.
//!
//! A task that is put down notes since when it waits, and must not pay for a look at a clock. So
//! it takes the time of the last look anybody made: the monitor's, every 2 ms while some worker is
//! busy; a worker's that has just slept; a worker's that looks for due timers. A tick is some
//! 2.1 ms, and ticks wrap after 104 days.

use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::shim::atomic::AtomicU32;
use raddle_base::shim::atomic::Ordering::Relaxed;

/// A tick is 2 to the power of this, in nanoseconds.
const TICK_BITS: u32 = 21;

/// The clock.
pub(crate) struct Ticks(AtomicU32);

impl Ticks {
    /// A clock that shows the present.
    pub(crate) fn new() -> Self {
        Ticks(AtomicU32::new(tick_of(Instant::coarse())))
    }

    /// The tick of the last look.
    #[inline]
    pub(crate) fn now(&self) -> u32 {
        // Relaxed: a time that is old already.
        self.0.load(Relaxed)
    }

    /// Somebody has looked at a clock.
    #[inline]
    pub(crate) fn look(&self, now: Instant) {
        let tick = tick_of(now);
        // Relaxed twice: as above. The line stays shared while the tick is the same.
        if self.0.load(Relaxed) != tick {
            self.0.store(tick, Relaxed);
        }
    }
}

fn tick_of(now: Instant) -> u32 {
    (now.as_nanos() >> TICK_BITS) as u32
}

/// The time from a tick to `now`; zero if the tick lies ahead a little, as those of two threads
/// may.
pub(crate) fn since(tick: u32, now: Instant) -> Duration {
    let ticks = tick_of(now).wrapping_sub(tick);
    let ticks = if ticks > u32::MAX / 2 { 0 } else { ticks };
    Duration::from_nanos(u64::from(ticks) << TICK_BITS)
}

#[cfg(all(test, not(loom)))]
#[path = "tests/ticks.rs"]
mod tests;
