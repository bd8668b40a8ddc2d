//! What a contender is: a name, and its entry for each case it takes part in.

use crate::outcome::Verdict;
use crate::plan::Plan;

/// The CPUs that a sample may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cpus {
    /// CPU 0.
    One,
    /// CPUs 0 and 1.
    Two,
}

/// One case by one contender.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) case: &'static str,
    pub(crate) cpus: Cpus,
    pub(crate) run: fn(Plan) -> Verdict,
}

/// A runtime under test.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The timed cases it takes part in.
    pub(crate) entries: fn() -> Vec<Entry>,
    /// The memory cases, which run in the probe.
    pub(crate) memory: fn() -> Vec<Entry>,
}

impl Contender {
    /// Its timed entry for a case.
    pub(crate) fn entry(&self, case: &str) -> Option<Entry> {
        (self.entries)().into_iter().find(|entry| entry.case == case)
    }

    /// Its memory entry for a case.
    pub(crate) fn memory_entry(&self, case: &str) -> Option<Entry> {
        (self.memory)().into_iter().find(|entry| entry.case == case)
    }

    /// Does it take part in a case?
    pub(crate) fn takes(&self, case: &str) -> bool {
        self.entry(case).is_some() || self.memory_entry(case).is_some()
    }
}
