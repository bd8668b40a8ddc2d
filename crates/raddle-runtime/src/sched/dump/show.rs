//! How a dump looks: workers first, then a line a task.

use std::fmt;

use super::{Dump, TaskDump, TaskState, Wait, WorkerDump};

impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tasks, workers) = (self.tasks.len(), self.workers.len());
        writeln!(f, "{tasks} tasks, {workers} workers, {} injected", self.injected)?;
        for (index, worker) in self.workers.iter().enumerate() {
            writeln!(f, "worker {index}: {worker}")?;
        }
        let blocking = &self.blocking;
        let (threads, idle) = (blocking.threads, blocking.idle_threads);
        write!(
            f,
            "blocking: {threads} threads, {idle} idle, {} jobs queued",
            blocking.queued_jobs
        )?;
        self.tasks.iter().try_for_each(|task| write!(f, "\n{task}"))
    }
}

impl fmt::Display for WorkerDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.asleep, self.running) {
            (true, _) => f.write_str("asleep")?,
            (_, Some(id)) => write!(f, "runs task {id}")?,
            (_, None) => f.write_str("awake")?,
        }
        let inbox = if self.inbox { ", more in its inbox" } else { "" };
        write!(f, "; queued {} and {} served{inbox}; ", self.rotating, self.served)?;
        self.metrics.fmt(f)
    }
}

impl fmt::Display for TaskDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {}", self.id)?;
        if let Some(name) = &self.name {
            write!(f, " {name:?}")?;
        }
        if let Some(worker) = self.pinned_to {
            write!(f, " pinned to worker {worker}")?;
        }
        write!(f, ", spawned at {}: {}", self.spawned_at, self.state)?;
        if self.aborted { f.write_str(", aborted") } else { Ok(()) }
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskState::Queued => f.write_str("queued"),
            TaskState::Running { worker, for_at_least } => {
                write!(f, "running on worker {worker} for {for_at_least:.1?} or more")
            }
            TaskState::Waiting(wait) => write!(f, "waiting for {wait}"),
            TaskState::Woken(wait) => write!(f, "woken and not polled yet; waited for {wait}"),
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.map_or("something that is not raddle's", |kind| kind.phrase()))?;
        if let Some(location) = self.location {
            write!(f, " ({location})")?;
        }
        write!(f, ", since {:.1?}", self.since)
    }
}
