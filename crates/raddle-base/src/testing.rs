//! For tests: a limit on how long a test may wait for others, so that a lost item is a failure and
//! not a test that never ends.

use std::time::{Duration, Instant};

/// Ends a test that is stuck.
#[derive(Clone, Copy)]
pub(crate) struct Watchdog(Instant);

impl Watchdog {
    /// Starts to watch: three minutes are far more than any test takes on a busy machine.
    pub(crate) fn start() -> Self {
        Self(Instant::now() + Duration::from_secs(180))
    }

    /// To be called in each round of a loop that waits for another thread.
    pub(crate) fn check(&self) {
        assert!(Instant::now() < self.0, "stuck: waited for three minutes");
    }
}
