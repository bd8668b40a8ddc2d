//! The end of a runtime, in the numbered phases of [`phase`](crate::sched::phase).
//!
//! 1. *Open.* Normal life.
//! 2. *Closed.* Admission ends: a spawn gives a handle that is cancelled already, a blocking job
//!    is refused. With a graceful wait, tasks go on until none is left or the wait is over.
//! 3. *Cancelling.* Every live task is marked. Idle free tasks are dropped by whoever comes
//!    first, idle pinned ones by their worker; queued ones at their turn. The queues of a worker
//!    that does not come back from a task are emptied by the thread that shuts down.
//! 4. *Ending.* At the limit, or when nothing is left: blocking jobs are waited for, workers close
//!    their drivers and return, and what is left is listed. Tasks that are left keep their memory
//!    and the runtime's for ever.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::parker;
use raddle_base::shim::thread::system;

use crate::sched::registry;
use crate::sched::shared::Shared;
use crate::sched::worker::Worker;
use crate::task::{AbortHandle, Id, Runnable, Step};

/// How long a thread that shuts down sleeps between two looks at queues it cannot be woken for.
/// Only while tasks are left in phase 3.
const SWEEP_EVERY: Duration = Duration::from_millis(2);
/// What drivers and threads get beyond the limit to finish what is under way.
const GRACE: Duration = Duration::from_millis(50);

/// What was left when a shutdown reached its limit.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Tasks that were still alive: running without an end, or pinned behind one that was.
    pub tasks: Vec<LeftTask>,
    /// Blocking jobs that had not returned.
    pub blocking_jobs: usize,
    /// Worker threads that had not returned.
    pub threads: usize,
}

/// A task that a shutdown left behind. Its memory is kept, its destructors do not run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LeftTask {
    /// The task.
    pub id: Id,
    /// Its name, if it was given one.
    pub name: Option<String>,
    /// Where it was spawned.
    pub spawned_at: &'static Location<'static>,
    /// Whether it belongs to one worker.
    pub pinned: bool,
}

impl ShutdownReport {
    /// Whether nothing was left.
    pub fn is_clean(&self) -> bool {
        self.tasks.is_empty() && self.blocking_jobs == 0 && self.threads == 0
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            return f.write_str("nothing was left");
        }
        write!(
            f,
            "left behind: {} tasks, {} blocking jobs, {} worker threads",
            self.tasks.len(),
            self.blocking_jobs,
            self.threads
        )?;
        for task in &self.tasks {
            let name = task.name.as_deref().unwrap_or("unnamed");
            write!(f, "\n  task {} ({name}), spawned at {}", task.id, task.spawned_at)?;
        }
        Ok(())
    }
}

/// Begins phases 2 and 3, with `limit` for what follows.
pub(crate) fn begin(shared: &Shared, limit: Instant) {
    close(shared);
    shared.phase.set_limit(limit);
    shared.phase.cancel();
    shared.wake_all();
}

/// Begins phase 2.
pub(crate) fn close(shared: &Shared) {
    shared.phase.close_admission();
    shared.live.close();
    shared.blocking.close();
}

/// Phase 2 with a wait: until no task is left, or `limit`.
pub(crate) fn wait_gracefully(shared: &Shared, limit: Instant) {
    parker::with_current(|parker| {
        while !shared.live.is_empty() && !shared.phase.is_cancelling() {
            let now = Instant::now();
            if now >= limit {
                break;
            }
            parker.park_until(limit.min(now + SWEEP_EVERY));
        }
    });
}

/// A worker's part of phase 3, on its own thread, then the end of its driver.
pub(crate) fn drain(worker: &Worker) {
    let (peer, shared) = (worker.peer(), &worker.shared);
    let doorbell = worker.driver().doorbell();
    worker.draining.set(true);
    loop {
        if peer.duty.calls() {
            worker.heed(peer);
        }
        cancel_idle(shared, Some(worker.index));
        loop {
            worker.look(peer, doorbell);
            let Some(task) = worker.sides.next(peer) else { break };
            worker.dispatch(peer, task);
        }
        let limit = shared.phase.limit();
        if shared.live.is_empty() || shared.phase.is_ending() || Instant::now() >= limit {
            break;
        }
        worker.sleep_until(peer, limit.min(Instant::now() + SWEEP_EVERY));
    }
    peer.timers.close();
    let limit = shared.phase.limit();
    let soon = Instant::now() + GRACE;
    worker.driver().close(if limit.is_far_future() { soon } else { limit.max(soon) });
}

/// The rest of phases 3 and 4, by the thread that shuts down: a plain thread, or worker 0 after
/// its own [`drain`].
pub(crate) fn finish(shared: &Arc<Shared>, limit: Instant) -> ShutdownReport {
    parker::with_current(|parker| {
        while !shared.live.is_empty() {
            cancel_idle(shared, None);
            empty_queues(shared);
            let now = Instant::now();
            if shared.live.is_empty() || now >= limit {
                break;
            }
            parker.park_until(limit.min(now + SWEEP_EVERY));
        }
    });
    let blocking_jobs = shared.blocking.shutdown(limit);
    shared.phase.end();
    shared.wake_all();
    // A worker that is late on a busy machine is worth the wait: what is left is lost for ever.
    let threads = shared.running.wait(limit.max(Instant::now() + GRACE));
    let tasks = left(shared);
    if !tasks.is_empty() || threads != 0 {
        registry::keep_for_ever(shared);
    }
    join_finished(shared);
    ShutdownReport { tasks, blocking_jobs, threads }
}

/// Drops what is idle: free tasks, and those pinned to `worker`.
fn cancel_idle(shared: &Shared, worker: Option<usize>) {
    for handle in shared.live.snapshot() {
        let header = handle.raw().header();
        let ours = !header.state.is_pinned() || worker == Some(header.home_index());
        if ours {
            cancel(shared, &handle, worker);
        } else {
            // Its worker will find the mark.
            header.state.mark_cancelled();
        }
    }
}

fn cancel(shared: &Shared, handle: &AbortHandle, worker: Option<usize>) {
    let raw = handle.raw();
    let header = raw.header();
    if header.state.claim_to_cancel() {
        // SAFETY: the claim came with a run reference.
        let task = unsafe { Runnable::from_raw_task(raw) };
        // What was seen before the claim may be old: a task settles and moves on between polls.
        // With the claim nothing changes any more.
        if header.state.is_pinned() && worker != Some(header.home_index()) {
            return shared.send_pinned(task);
        }
        // Cancelled before it is polled: the future is dropped here.
        let Step::Done = task.run_cancelled() else { unreachable!("a cancelled task was polled") };
    }
}

/// Takes the free tasks out of all workers' queues and drops them: all are marked by now.
fn empty_queues(shared: &Shared) {
    for peer in shared.active_peers() {
        let ring = std::iter::from_fn(|| peer.rotating.steal_one());
        let served = std::iter::from_fn(|| peer.served.steal_one());
        let queued = ring.chain(served).chain(std::iter::from_fn(|| peer.take_slot()));
        for task in queued.chain(peer.inbox.take_all()) {
            run_cancelled(shared, task);
        }
    }
    for task in shared.injector.pop_batch(usize::MAX) {
        run_cancelled(shared, task);
    }
}

/// Runs a queued free task, which is marked and so is dropped; one that was spawned before the
/// list closed and marked never was is marked first.
fn run_cancelled(shared: &Shared, task: Runnable) {
    task.header().state.mark_cancelled();
    if let Step::Requeue(task) = task.run_cancelled() {
        shared.injector.push(task);
    }
}

fn left(shared: &Shared) -> Vec<LeftTask> {
    let describe = |handle: AbortHandle| {
        let header = handle.raw().header();
        LeftTask {
            id: header.id,
            name: header.name.as_deref().map(|name| name.to_string()),
            spawned_at: header.site,
            pinned: header.state.is_pinned(),
        }
    };
    shared.live.snapshot().into_iter().map(describe).collect()
}

/// Joins the threads that have left; lets the others go.
fn join_finished(shared: &Shared) {
    let threads = std::mem::take(&mut *shared.threads.lock());
    let me = system::current().id();
    for thread in threads {
        // A thread that has left `Running` has nothing of the runtime's left to do but to end.
        if thread.thread().id() != me && (thread.is_finished() || shared.running.is_zero()) {
            let _ = thread.join();
        }
    }
}
