//! How much work one sample does: the parameters of `lab/CASES.md`, or tiny ones.

use std::time::Duration;

/// Full size for measuring, tiny for the smoke run (termination and exact counts only).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) smoke: bool,
    /// One timed round of so many units, for counting instructions; yield_in_hot_loop,
    /// spawn_batch and the primitives that are polled by hand obey.
    pub(crate) exactly: Option<u64>,
}

impl Plan {
    /// A number of things: the case's own, or the tiny one.
    pub(crate) fn size<T>(self, full: T, tiny: T) -> T {
        if self.smoke { tiny } else { full }
    }

    /// The units of a round: the case's own number, the tiny one, or exactly what was asked for.
    pub(crate) fn units(self, full: u64, tiny: u64) -> u64 {
        self.exactly.unwrap_or(self.size(full, tiny))
    }

    /// A round is repeated until this much time has been measured.
    ///
    /// 0.25 s, so that with rounds of up to 0.25 s a timed region lasts 0.25 to 0.5 s.
    pub(crate) fn floor(self) -> Duration {
        let once = self.smoke || self.exactly.is_some();
        if once { Duration::ZERO } else { Duration::from_millis(250) }
    }
}
