//! How much memory the process holds, and what it grew by for each of n things.

use crate::counting::{self, Count};
use crate::machine;
use crate::outcome::{Outcome, Verdict, expect_equal};

/// What the value of a memory case stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Bytes asked of the allocator.
    Allocator,
    /// Resident bytes.
    Resident,
}

/// Memory at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    count: Count,
    resident: u64,
}

impl Level {
    pub(super) fn now() -> Level {
        Level { count: counting::count(), resident: machine::resident() }
    }

    /// What has been added since, for each of `n`.
    pub(super) fn growth(self, n: u64, basis: Basis) -> Outcome {
        let now = Level::now();
        let each = |bytes: i64| bytes as f64 / n as f64;
        let asked = each(now.count.live - self.count.live);
        let resident = each(now.resident as i64 - self.resident as i64);
        let value = if basis == Basis::Allocator { asked } else { resident };
        Outcome { value, n, ..Outcome::default() }
            .with("allocator_bytes", asked)
            .with("resident_bytes", resident)
            .with("allocations", each((now.count.calls - self.count.calls) as i64))
    }
}

/// The result of a case that also had to run to its end.
pub(super) fn completed(outcome: Outcome, got: u64, wanted: u64) -> Verdict {
    expect_equal("completed", got, wanted)?;
    Ok(outcome)
}
