//! How long a busy worker leaves its driver alone while it has served tasks to run.
//!
//! Completions that have arrived go behind the served tasks that wait already: to fetch them
//! sooner does not run their tasks sooner. To fetch them together, and to submit together what the
//! tasks have prepared meanwhile, costs much less: with a thousand connections each entry into the
//! kernel then carries dozens of requests instead of a few. But tasks may be long, and what they
//! have prepared has its own limit. So a hold lasts while served tasks wait, for at most [`MOST`]
//! dispatches, and about twice the
//! target between two readings of the clock: 50 µs.
//!
//! The clock is read when a hold begins, after its first dispatch, and then where the limit is
//! expected from the mean length of the dispatches so far: two or three readings a hold. A driver
//! that has nothing for the worker, and was given nothing, makes none.

use std::cell::Cell;
use std::time::Duration;

use raddle_base::clock::Instant;

/// The most dispatches of a hold.
const MOST: u32 = 64;

/// The hold of one worker.
pub(crate) struct Hold {
    /// How long a hold is meant to last at most.
    limit: Duration,
    since: Cell<Instant>,
    /// Dispatches of this hold so far; 0 while there is none.
    count: Cell<u32>,
    /// Dispatches until the clock is read again.
    left: Cell<u32>,
}

impl Hold {
    /// With the target between two readings of the clock.
    pub(crate) fn new(target: Duration) -> Self {
        Hold {
            limit: target.saturating_mul(2),
            since: Cell::new(Instant::from_nanos(0)),
            count: Cell::new(0),
            left: Cell::new(0),
        }
    }

    /// The driver has been attended to.
    #[inline]
    pub(crate) fn end(&self) {
        self.count.set(0);
    }

    /// Whether the driver may wait for one more dispatch. `now` reads the clock.
    pub(crate) fn goes_on(&self, now: impl FnOnce() -> Instant) -> bool {
        let count = self.count.get();
        if count == 0 {
            self.since.set(now());
            self.left.set(1);
        } else if count == MOST || !self.is_in_time(count, now) {
            return false;
        }
        self.count.set(count + 1);
        true
    }

    /// After `count` dispatches.
    fn is_in_time(&self, count: u32, now: impl FnOnce() -> Instant) -> bool {
        let left = self.left.get() - 1;
        self.left.set(left);
        if left != 0 {
            return true;
        }
        let spent = now().duration_since(self.since.get());
        let Some(rest) = self.limit.checked_sub(spent) else { return false };
        let mean = (spent.as_nanos() as u64 / u64::from(count)).max(1);
        self.left.set((rest.as_nanos() as u64 / mean).clamp(1, u64::from(MOST)) as u32);
        true
    }
}

#[cfg(test)]
#[path = "tests/hold.rs"]
mod tests;
