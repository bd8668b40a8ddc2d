//! `timer_lateness`: how late does a sleep end when nothing else goes on?
//!
//! One task sleeps again and again and reads the clock before and after. Figures in µs:
//! `late_100us_p50` and so on; the value is `late_100us_p50`. Checked: no sleep ever ended early.

use crate::outcome::{Outcome, Verdict};
use crate::plan::Plan;
use crate::rt::{Stacks, Tasks};
use crate::stats;
use std::time::{Duration, Instant};

/// Name, length, and how many: 0.2 to 0.5 s in all for a timer that is on time.
const KINDS: [(&str, Duration, usize); 3] = [
    ("100us", Duration::from_micros(100), 500),
    ("1ms", Duration::from_millis(1), 150),
    ("10ms", Duration::from_millis(10), 15),
];

fn count(plan: Plan, full: usize) -> usize {
    plan.size(full, 2)
}

/// On tasks.
pub(crate) fn tasks<R: Tasks>(plan: Plan) -> Verdict {
    R::run(async move {
        let mut late = Lateness::default();
        for (name, length, full) in KINDS {
            R::sleep(length).await;
            for _ in 0..count(plan, full) {
                let start = Instant::now();
                R::sleep(length).await;
                late.note(start.elapsed(), length)?;
            }
            late.close(name);
        }
        Ok(late.outcome())
    })
}

/// On stacks.
pub(crate) fn stacks<S: Stacks>(plan: Plan) -> Verdict {
    S::run(1, move || {
        let mut late = Lateness::default();
        for (name, length, full) in KINDS {
            S::sleep(length);
            for _ in 0..count(plan, full) {
                let start = Instant::now();
                S::sleep(length);
                late.note(start.elapsed(), length)?;
            }
            late.close(name);
        }
        Ok(late.outcome())
    })
}

/// The samples of the kind being measured, in µs, and the figures of those before.
#[derive(Default)]
struct Lateness {
    samples: Vec<f64>,
    outcome: Outcome,
}

impl Lateness {
    fn note(&mut self, slept: Duration, asked: Duration) -> Result<(), String> {
        let late = slept
            .checked_sub(asked)
            .ok_or_else(|| format!("early: a sleep of {asked:?} ended after {slept:?}"))?;
        self.samples.push(late.as_nanos() as f64 / 1e3);
        Ok(())
    }

    fn close(&mut self, name: &str) {
        stats::sort(&mut self.samples);
        for (label, q) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)] {
            let figure = stats::percentile(&self.samples, q).unwrap_or(0.0);
            self.outcome.figures.insert(format!("late_{name}_{label}"), figure);
        }
        let n = self.samples.len();
        self.outcome.figures.insert(format!("late_{name}_n"), n as f64);
        self.outcome.n += n as u64;
        self.samples.clear();
    }

    fn outcome(mut self) -> Outcome {
        self.outcome.value = self.outcome.figures["late_100us_p50"];
        self.outcome
    }
}
