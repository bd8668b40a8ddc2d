//! How long a process has computed since the others had a turn; see `preempt`.

use std::cell::Cell;
use std::time::Duration;

use raddle_base::clock::Instant;

/// How long a process computes before the others get a turn.
const SLICE: Duration = Duration::from_micros(100);
/// Allocations between two looks at the clock, which cost some 20 ns each.
const EVERY: u32 = 32;

/// How far a process is in its slice. Part of its seat.
pub(crate) struct Slice {
    /// Scopes in which it may be preempted.
    pub(crate) depth: Cell<u32>,
    /// Allocations until the next look.
    left: Cell<u32>,
    /// When the slice began.
    since: Cell<Instant>,
}

impl Slice {
    pub(crate) fn new() -> Self {
        let since = Cell::new(Instant::FAR_FUTURE);
        Slice { depth: Cell::new(0), left: Cell::new(EVERY), since }
    }

    pub(crate) fn begin(&self) {
        self.left.set(EVERY);
        self.since.set(Instant::now());
    }

    /// Counts one allocation; true if the slice is over.
    pub(crate) fn is_over(&self) -> bool {
        let left = self.left.get() - 1;
        self.left.set(if left == 0 { EVERY } else { left });
        left == 0 && self.since.get().elapsed() >= SLICE
    }
}
