//! What a sample gives: a value, further named figures, and whether its counts were right.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Named figures beside the value. Times in ns unless the case's definition says otherwise.
pub(crate) type Figures = BTreeMap<String, f64>;

/// What a case's function returns when its checks held; else it returns the mismatch as text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// The case's figure of merit, in the case's unit.
    pub(crate) value: f64,
    /// How many units (tasks, yields, requests, samples) the value stands on.
    pub(crate) n: u64,
    pub(crate) figures: Figures,
}

/// The result of a case: an outcome, or what was wrong.
pub(crate) type Verdict = Result<Outcome, String>;

impl Outcome {
    /// So much time for so many units.
    pub(crate) fn per_unit(total: Duration, units: u64) -> Outcome {
        let value = total.as_nanos() as f64 / units as f64;
        Outcome { value, n: units, figures: Figures::new() }
    }

    /// The same with one more figure.
    pub(crate) fn with(mut self, name: &str, value: f64) -> Outcome {
        self.figures.insert(name.to_owned(), value);
        self
    }
}

/// The one JSON line that `one` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sample {
    pub(crate) case: String,
    pub(crate) contender: String,
    pub(crate) unit: String,
    pub(crate) value: f64,
    pub(crate) n: u64,
    /// `ok`, or the mismatch.
    pub(crate) check: String,
    pub(crate) figures: Figures,
}

impl Sample {
    /// The line for a verdict.
    pub(crate) fn new(case: &str, contender: &str, unit: &str, verdict: Verdict) -> Sample {
        let (outcome, check) = match verdict {
            Ok(outcome) => (outcome, "ok".to_owned()),
            Err(mismatch) => (Outcome::default(), mismatch),
        };
        Sample {
            case: case.to_owned(),
            contender: contender.to_owned(),
            unit: unit.to_owned(),
            value: outcome.value,
            n: outcome.n,
            check,
            figures: outcome.figures,
        }
    }

    /// Did its checks hold?
    pub(crate) fn is_ok(&self) -> bool {
        self.check == "ok"
    }

    /// The value, or a figure by name.
    pub(crate) fn figure(&self, name: Option<&str>) -> Option<f64> {
        match name {
            None | Some("value") => Some(self.value),
            Some(name) => self.figures.get(name).copied(),
        }
    }
}

/// Fails with a text when two counts differ.
pub(crate) fn expect_equal(what: &str, got: u64, wanted: u64) -> Result<(), String> {
    if got == wanted {
        return Ok(());
    }
    Err(format!("{what}: got {got}, expected {wanted}"))
}
