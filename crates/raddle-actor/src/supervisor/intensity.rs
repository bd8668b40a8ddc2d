//! How many restarts are too many.

use std::collections::VecDeque;
use std::time::Duration;

use raddle_base::clock::Instant;

/// At most so many restarts in so long.
#[derive(Debug)]
pub(super) struct Intensity {
    most: usize,
    period: Duration,
    /// When the last ones were, oldest first; at most one more than allowed.
    recent: VecDeque<Instant>,
}

impl Intensity {
    pub(super) fn new(most: u32, period: Duration) -> Self {
        Intensity { most: most as usize, period, recent: VecDeque::new() }
    }

    /// Notes a restart at `now`; false if it is one too many.
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        let is_old = |then: &Instant| now.saturating_duration_since(*then) >= self.period;
        while self.recent.front().is_some_and(is_old) {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
        self.recent.len() <= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_slides() {
        let mut intensity = Intensity::new(2, Duration::from_secs(5));
        let at = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
        assert!(intensity.allows(at(0)));
        assert!(intensity.allows(at(4)));
        // The first is old by now.
        assert!(intensity.allows(at(5)));
        assert!(!intensity.allows(at(6)));
        assert!(intensity.allows(at(100)));
        assert!(!Intensity::new(0, Duration::from_secs(1)).allows(at(0)));
    }
}
