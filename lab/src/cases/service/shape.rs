//! What a case of service does in a trial.

use std::time::Duration;

/// What keeps the workers busy.
#[derive(Clone, Copy, Debug)]
pub(super) enum Backlog {
    /// So many tasks, each of which computes for so long and yields, again and again.
    Yielders(usize, Duration),
    /// All workers but so many are inside a loop for the whole trial.
    Stuck { but: usize },
}

/// The parameters of a case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) trials: u64,
    pub(super) backlog: Backlog,
    /// Events of each kind, `GAP` apart.
    pub(super) events: usize,
    /// From the first event to the end of the backlog.
    pub(super) length: Duration,
}

/// From one event to the next.
pub(super) const GAP: Duration = Duration::from_millis(1);
