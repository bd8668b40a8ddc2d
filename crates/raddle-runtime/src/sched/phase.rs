//! The numbered phases of a runtime's life, in one word that only grows.
//!
//! 1. *Open*: tasks and blocking jobs are admitted.
//! 2. *Closed*: nothing new is admitted; what is there goes on (the graceful wait).
//! 3. *Cancelling*: every task that is still alive is dropped at its next turn, idle ones at once:
//!    free tasks by any thread of the runtime, pinned ones by their worker.
//! 4. *Ending*: the limit has passed or nothing is left; workers close their drivers and return.

use raddle_base::clock::Instant;
use raddle_base::shim::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};
use raddle_base::shim::atomic::{AtomicU8, AtomicU64};

const OPEN: u8 = 0;
const CLOSED: u8 = 1;
const CANCELLING: u8 = 2;
const ENDING: u8 = 3;

/// The phase, and until when the last ones may take.
pub(crate) struct PhaseWord {
    phase: AtomicU8,
    limit: AtomicU64,
}

impl PhaseWord {
    pub(crate) fn new() -> Self {
        PhaseWord { phase: AtomicU8::new(OPEN), limit: AtomicU64::new(u64::MAX) }
    }

    /// Whether workers have more to do than to run tasks: one load a turn of the loop.
    #[inline]
    pub(crate) fn is_cancelling(&self) -> bool {
        // Relaxed: a hint, looked at again and again; the wake-up that follows a change orders.
        self.phase.load(Relaxed) >= CANCELLING
    }

    /// Whether admission has been closed.
    pub(crate) fn is_closing(&self, order: Ordering) -> bool {
        self.phase.load(order) >= CLOSED
    }

    /// Whether workers return now.
    pub(crate) fn is_ending(&self) -> bool {
        // Acquire: pairs with `end`.
        self.phase.load(Acquire) >= ENDING
    }

    /// Begins phase 2; true for the first caller.
    pub(crate) fn close_admission(&self) -> bool {
        // AcqRel: one caller is the first.
        self.phase.fetch_max(CLOSED, AcqRel) == OPEN
    }

    /// Begins phase 3.
    pub(crate) fn cancel(&self) {
        // AcqRel: publishes what the beginner did.
        self.phase.fetch_max(CANCELLING, AcqRel);
    }

    /// Begins phase 4.
    pub(crate) fn end(&self) {
        // AcqRel: as above.
        self.phase.fetch_max(ENDING, AcqRel);
    }

    /// Until when workers may take to close their drivers.
    pub(crate) fn limit(&self) -> Instant {
        // Acquire: pairs with `set_limit`.
        Instant::from_nanos(self.limit.load(Acquire))
    }

    pub(crate) fn set_limit(&self, limit: Instant) {
        // Release: read by workers that see a later phase.
        self.limit.store(limit.as_nanos(), Release);
    }
}
