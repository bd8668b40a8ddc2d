//! What is counted between a trial's first event and its end.

use super::board::Board;
use crate::hosted::Service;
use crate::outcome::Figures;
use std::time::{Duration, Instant};

/// What is counted from the first event on.
pub(super) struct Window {
    pub(super) began: Instant,
    yields: u64,
    counters: Figures,
}

/// What was counted.
pub(super) struct Counted {
    pub(super) yields: u64,
    pub(super) time: Duration,
    pub(super) counters: Figures,
}

impl Window {
    pub(super) fn open<S: Service>(host: &S::Host, board: &Board) -> Window {
        let counters = S::counters(host);
        Window { yields: board.yields(), began: Instant::now(), counters }
    }

    pub(super) fn close<S: Service>(&self, host: &S::Host, board: &Board) -> Counted {
        let (yields, time) = (board.yields() - self.yields, self.began.elapsed());
        let mut counters = S::counters(host);
        for (name, before) in &self.counters {
            counters.entry(name.clone()).and_modify(|now| *now -= before);
        }
        Counted { yields, time, counters }
    }
}
