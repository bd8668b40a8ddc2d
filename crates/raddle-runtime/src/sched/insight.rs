//! The face of metrics and dumps: what a runtime and its handle tell of what goes on.

use crate::sched::dump::{self, Dump};
use crate::sched::metrics::Metrics;
use crate::sched::runtime::{Handle, Runtime};

impl Runtime {
    /// What the workers have done so far: counts, and how long events waited for them. Reads some
    /// kilobytes for each worker, takes no lock of theirs, and allocates the result.
    pub fn metrics(&self) -> Metrics {
        self.handle().metrics()
    }

    /// What all tasks and workers are at: each task with its state, what it waits for, and where
    /// in the program.
    ///
    /// Nothing is polled and no future touched; workers go on, and are held up by some
    /// microseconds at most where they spawn or end a task just then. Takes some 100 ns for each
    /// task, and 100 bytes for each in the result. May be called on any thread, also in a task.
    pub fn dump(&self) -> Dump {
        self.handle().dump()
    }
}

impl Handle {
    /// What all tasks and workers are at; see [`Runtime::dump`].
    pub fn dump(&self) -> Dump {
        dump::take(&self.shared)
    }

    /// What the workers have done so far; see [`Runtime::metrics`].
    pub fn metrics(&self) -> Metrics {
        let workers = self.shared.active_peers();
        Metrics {
            workers: workers.iter().map(|peer| peer.metrics()).collect(),
            live_tasks: self.shared.live.len(),
        }
    }
}
