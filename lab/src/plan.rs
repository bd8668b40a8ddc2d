//! How much work one sample does: the parameters of `lab/CASES.md`, or tiny ones.

use std::time::Duration;

/// Full size for measuring, tiny for the smoke run (termination and exact counts only).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) smoke: bool,
    /// One timed round of so many units, for counting instructions; only yield_in_hot_loop
    /// and spawn_batch obey.
    pub(crate) exactly: Option<u64>,
}

impl Plan {
    /// A number of things: the case's own, or the tiny one.
    pub(crate) fn size<T>(self, full: T, tiny: T) -> T {
        if self.smoke { tiny } else { full }
    }

    /// A round is repeated until this much time has been measured.
    ///
    /// 0.25 s, so that with rounds of up to 0.25 s a timed region lasts 0.25 to 0.5 s.
    pub(crate) fn floor(self) -> Duration {
        let once = self.smoke || self.exactly.is_some();
        if once { Duration::ZERO } else { Duration::from_millis(250) }
    }
}
