//! When a busy worker reads the clock: often enough for timers, seldom enough to be free.
//!
//! A reading costs some 23 ns, more than a short dispatch. While a timer is armed or a driver has
//! to be asked by a system call, the clock is read every so many dispatches, so that readings are
//! a target time apart (25 µs, settable): the count is that time divided by the mean length of the
//! dispatches since the last reading, between 1 and [`MOST`]. It at most doubles from one reading
//! to the next: a short dispatch says little about those that follow, and a count taken from one
//! alone would be spent on long ones. With nothing armed, no reading is made at all.

use std::cell::Cell;
use std::time::Duration;

use raddle_base::clock::Instant;

/// The most dispatches between two readings.
const MOST: u64 = 256;
/// The most dispatches between two such polls, whatever the clock says.
const POLL_AFTER: u64 = 16_384;

/// The countdown to the next reading.
pub(crate) struct Pace {
    /// The time between two readings that the count aims at, in nanoseconds; also the time between
    /// two polls of a driver that must be asked by a system call (some 160 ns each).
    target: u64,
    left: Cell<u32>,
    /// What `left` began with at the last reading.
    interval: Cell<u32>,
    last: Cell<Instant>,
    dispatches: Cell<u64>,
    polled: Cell<Instant>,
    polled_at: Cell<u64>,
}

impl Pace {
    pub(crate) fn new(target: Duration) -> Self {
        Pace {
            target: u64::try_from(target.as_nanos()).unwrap_or(u64::MAX),
            left: Cell::new(1),
            interval: Cell::new(1),
            last: Cell::new(Instant::from_nanos(0)),
            dispatches: Cell::new(0),
            polled: Cell::new(Instant::from_nanos(0)),
            polled_at: Cell::new(0),
        }
    }

    /// One dispatch nearer; true if the clock is to be read now.
    #[inline]
    pub(crate) fn tick(&self) -> bool {
        let left = self.left.get() - 1;
        self.left.set(left);
        left == 0
    }

    /// The clock was read, after `dispatches` in all.
    pub(crate) fn restart(&self, now: Instant, dispatches: u64) {
        let count = dispatches.wrapping_sub(self.dispatches.replace(dispatches)).max(1);
        let spent = now.duration_since(self.last.replace(now)).as_nanos() as u64;
        // The count that would have taken the target time at the mean length seen. After a pause
        // without readings the mean is meaningless, and too long, which errs to the safe side.
        let most = (u64::from(self.interval.get()) * 2).min(MOST);
        let interval = (self.target.saturating_mul(count) / spent.max(1)).clamp(1, most) as u32;
        self.interval.set(interval);
        self.left.set(interval);
    }

    /// Whether a driver that must be asked is to be asked now.
    pub(crate) fn poll_is_due(&self, now: Instant) -> bool {
        let dispatches = self.dispatches.get();
        let due = now.duration_since(self.polled.get()).as_nanos() >= u128::from(self.target)
            || dispatches.wrapping_sub(self.polled_at.get()) >= POLL_AFTER;
        if due {
            self.polled.set(now);
            self.polled_at.set(dispatches);
        }
        due
    }

    /// Read the clock at the next look, if it is needed at all.
    pub(crate) fn wake(&self) {
        self.left.set(1);
    }
}

#[cfg(test)]
#[path = "tests/pace.rs"]
mod tests;
