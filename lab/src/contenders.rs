//! Who takes part, and where: a file for each runtime, and the table of them all.
//!
//! Adding a contender is a file with the adapter (`Tasks` or `Stacks`, and what it can of `Offload`,
//! `Files`, `Echo`, `Http`) and a row in `ALL`.

mod compio;
mod epoll;
mod may;
mod monoio;
mod smol;
mod std_threads;
mod table;
mod tokio;

use crate::plan::Plan;
use crate::{outcome::Verdict, rt::OneThread};

#[cfg(test)]
mod tests;

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
    entries: fn() -> Vec<Entry>,
    /// The memory cases, which run in the probe.
    memory: fn() -> Vec<Entry>,
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

/// All contenders, in the order of reports.
pub(crate) static ALL: &[Contender] = &[
    tokio::CURRENT,
    tokio::MULTI,
    smol::SMOL,
    may::MAY,
    monoio::MONOIO,
    compio::COMPIO,
    epoll::RAW_EPOLL,
    std_threads::STD,
];

/// A contender by name.
pub(crate) fn find(name: &str) -> Option<&'static Contender> {
    ALL.iter().find(|contender| contender.name == name)
}

/// Wraps what belongs to a runtime of one thread.
///
/// Only for adapters whose `run` polls the body, and `spawn` its tasks, on the calling thread.
#[inline]
fn home<T>(value: T) -> OneThread<T> {
    // SAFETY: the adapters that call this are one-thread runtimes: bodies of the cases reach the
    // value only from tasks of that runtime, which never leave their thread.
    unsafe { OneThread::new(value) }
}
