//! The figures of all trials of a case.

use super::board::Board;
use super::window::Counted;
use crate::outcome::{Figures, Outcome, Verdict};
use crate::stats;
use std::collections::BTreeMap;
use std::time::Duration;

/// Waits by kind in µs, and yields.
#[derive(Default)]
pub(super) struct Summary {
    waits: BTreeMap<&'static str, Vec<f64>>,
    yields: u64,
    time: Duration,
    counters: Figures,
    trials: u64,
}

impl Summary {
    /// The waits of one trial. `called` tells which events of other threads were calls.
    pub(super) fn note(
        &mut self,
        board: &Board,
        called: impl Fn(usize) -> bool,
    ) -> Result<(), String> {
        self.waits.entry("io").or_default().extend(board.io.waits());
        self.waits.entry("timer").or_default().extend(board.timer.lateness()?);
        let remote = board.remote.waits();
        for (event, wait) in remote.iter().enumerate() {
            let kind = if called(event) { "wake" } else { "spawn" };
            self.waits.entry(kind).or_default().push(*wait);
        }
        self.waits.entry("remote").or_default().extend(remote);
        self.trials += 1;
        Ok(())
    }

    pub(super) fn note_yields(&mut self, counted: Counted) {
        self.yields += counted.yields;
        self.time += counted.time;
        for (name, count) in counted.counters {
            *self.counters.entry(name).or_default() += count;
        }
    }

    /// The figures; without events the value is the time a yield takes.
    pub(super) fn outcome(mut self, events: bool) -> Verdict {
        let mut outcome = Outcome::default()
            .with("trials", self.trials as f64)
            .with("yields", self.yields as f64)
            .with("yields_per_s", self.yields as f64 / self.time.as_secs_f64());
        // By trial, since a trial is what is repeated.
        let trials = self.trials as f64;
        let counters = self.counters.into_iter();
        outcome.figures.extend(counters.map(|(name, count)| (name, count / trials)));
        if !events {
            outcome.value = self.time.as_nanos() as f64 / self.yields.max(1) as f64;
            outcome.n = self.yields;
            return Ok(outcome);
        }
        for (kind, waits) in &mut self.waits {
            stats::sort(waits);
            for (label, q) in [("p50", 0.5), ("p99", 0.99), ("max", 1.0)] {
                let figure = stats::percentile(waits, q).unwrap_or(0.0);
                outcome.figures.insert(format!("{kind}_{label}"), figure);
            }
            outcome.figures.insert(format!("{kind}_n"), waits.len() as f64);
        }
        outcome.n = self.waits["io"].len() as u64;
        outcome.value = outcome.figures["io_p99"];
        Ok(outcome)
    }
}
