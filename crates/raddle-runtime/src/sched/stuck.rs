//! What is told of a task that does not return.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use crate::task::Id;

/// A task that has kept its worker for longer than the threshold for reports.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StuckTask {
    /// The task.
    pub id: Id,
    /// Its name, if it was given one.
    pub name: Option<String>,
    /// Where it was spawned.
    pub spawned_at: &'static Location<'static>,
    /// The worker it is running on.
    pub worker: usize,
    /// For how long it has been running at least: to the grain of the monitor's looks, 2 ms.
    pub running_for: Duration,
    /// What becomes of the other tasks, I/O and timers of that worker.
    pub others: Others,
}

/// What becomes of the other work of a worker that is stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Others {
    /// Nothing waits behind the task.
    None,
    /// Somebody else has taken it over.
    TakenOver,
    /// It waits: all stand-ins are at work already, or a thread could not be had.
    NoStandIn,
    /// It waits, because the runtime is a local one or the settings forbid rescues.
    NotRescued,
}

impl fmt::Display for StuckTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or("unnamed");
        write!(
            f,
            "task {} ({name}), spawned at {}, has kept worker {} for {:?}",
            self.id, self.spawned_at, self.worker, self.running_for
        )?;
        f.write_str(match self.others {
            Others::None => "; nothing waits behind it",
            Others::TakenOver => "; the worker's other work has been taken over",
            Others::NoStandIn => "; the worker's other work waits: no stand-in is left",
            Others::NotRescued => "; the worker's other work waits",
        })
    }
}
