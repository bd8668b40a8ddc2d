//! What all tasks and workers of a runtime are at, for people who wonder why nothing moves.
//!
//! **How it is taken.** By reading, from any thread: no task is polled and no future touched. The
//! list of live tasks is walked in pieces, each for a few microseconds under the lock of its shard,
//! so that a dump of a million tasks holds up nobody; see [`LiveList::walk`]. Tasks that are
//! spawned or end meanwhile may be in it or not, all others are, once. A worker's words are read
//! as they are, and tasks are told by number, never by an address that may be gone.
//!
//! **What it cannot be** is one moment for all: tasks go on while others are looked at.
//!
//! [`LiveList::walk`]: crate::task::LiveList::walk

use std::collections::HashMap;
use std::panic::Location;
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::shim::atomic::Ordering::Relaxed;
use raddle_base::wait::WaitKind;

use crate::blocking::BlockingMetrics;
use crate::sched::metrics::WorkerMetrics;
use crate::sched::peer::Peer;
use crate::sched::shared::Shared;
use crate::sched::ticks;
use crate::task::{Id, Phase, View};

mod show;

/// What all tasks and workers of a runtime are at.
///
/// Made by [`Handle::dump`](crate::Handle::dump); shown by `Display`, a line a task.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Dump {
    /// All tasks that have been spawned and have not ended, in the order of their numbers. Blocking
    /// jobs are not among them.
    pub tasks: Vec<TaskDump>,
    /// The workers; stand-ins for those in blocking sections come last.
    pub workers: Vec<WorkerDump>,
    /// Tasks spawned by threads that are no workers, and not taken by one yet.
    pub injected: usize,
    /// The threads for blocking calls.
    pub blocking: BlockingMetrics,
}

/// A task at the moment when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskDump {
    /// Its number.
    pub id: Id,
    /// Its name, if it was given one.
    pub name: Option<Box<str>>,
    /// Where it was spawned.
    pub spawned_at: &'static Location<'static>,
    /// The worker it is pinned to; `None` for a task that any worker may run.
    pub pinned_to: Option<usize>,
    /// An abort was asked for, and its future will be dropped at its next turn.
    pub aborted: bool,
    /// What it is at.
    pub state: TaskState,
}

/// What a task is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskState {
    /// In a queue: it is new, has yielded, or was woken while it ran.
    Queued,
    /// Being polled.
    Running {
        /// By this worker.
        worker: usize,
        /// For at least so long, as the monitor has seen it: some 2 ms coarse.
        for_at_least: Duration,
    },
    /// Waiting to be woken.
    Waiting(Wait),
    /// Granted what it waited for, or woken for another reason, and not polled yet.
    Woken(Wait),
}

/// What a task waits for, or waited for until it was woken.
///
/// A task can wait for several things at once. This is the one that was polled last, before the
/// task was put down; a [`timeout`](crate::time::timeout) tells of what it limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// What kind of thing; `None` if it is none of raddle's.
    pub kind: Option<WaitKind>,
    /// Where the operation that waits was called. For the end of a task, where that task was
    /// spawned; for a value of a oneshot channel, where the channel was made. `None` for waits by a
    /// poll function, which is not told its caller.
    pub location: Option<&'static Location<'static>>,
    /// How long ago the task was put down: some 2 ms coarse while a worker is busy, and some 10 ms
    /// after all have slept.
    pub since: Duration,
}

/// A worker at the moment when it was looked at.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorkerDump {
    /// Whether it sleeps, because there is nothing to do for it.
    pub asleep: bool,
    /// The task it polls.
    pub running: Option<Id>,
    /// Tasks in the queue of those that were spawned, yielded, or were woken by others here. Pinned
    /// tasks are not counted: only their worker may look at their queues.
    pub rotating: usize,
    /// Tasks in the queue of those that I/O, timers or other threads have woken; without pinned
    /// ones.
    pub served: usize,
    /// Whether other threads have woken tasks that it has not taken yet.
    pub inbox: bool,
    /// What it has done so far.
    pub metrics: WorkerMetrics,
}

/// Takes a dump.
pub(crate) fn take(shared: &Shared) -> Dump {
    let mut taker = Taker { tasks: Vec::with_capacity(shared.live.len()), running: HashMap::new() };
    shared.live.walk(|views| {
        let busy = busy(shared);
        let now = Instant::now();
        for view in views {
            taker.task(view, &busy, shared, now);
        }
    });
    let Taker { mut tasks, running } = taker;
    // A task may have been come by twice. A stable sort: the later look is the second.
    tasks.sort_by_key(|task| task.id);
    tasks.dedup_by(|later, kept| {
        let same = later.id == kept.id;
        if same {
            std::mem::swap(later, kept);
        }
        same
    });
    let workers = shared.active_peers().iter().enumerate();
    Dump {
        workers: workers.map(|(n, peer)| worker(peer, running.get(&n).copied())).collect(),
        tasks,
        injected: shared.injector.len(),
        blocking: shared.blocking.metrics(),
    }
}

/// The workers that are awake, each with the number of the task it has polled last.
fn busy(shared: &Shared) -> Vec<(u64, usize)> {
    let peers = shared.active_peers().iter().enumerate();
    let awake = peers.filter(|(_, peer)| peer.sleep.is_awake());
    // Relaxed: a number, compared with those of tasks that are alive.
    awake.map(|(index, peer)| (peer.running.load(Relaxed), index)).collect()
}

struct Taker {
    tasks: Vec<TaskDump>,
    /// What each worker runs.
    running: HashMap<usize, Id>,
}

impl Taker {
    fn task(&mut self, view: &View, busy: &[(u64, usize)], shared: &Shared, now: Instant) {
        let wait = Wait {
            kind: view.noted.kind,
            location: view.noted.at,
            since: ticks::since(view.noted.tick, now),
        };
        let state = match view.seen.phase {
            Phase::Complete => return,
            Phase::Idle => TaskState::Waiting(wait),
            Phase::Woken => TaskState::Woken(wait),
            Phase::Claimed => self.claimed(view.id, busy, shared),
        };
        self.tasks.push(TaskDump {
            id: view.id,
            name: view.name(),
            spawned_at: view.site,
            pinned_to: view.seen.pinned.then_some(view.home),
            aborted: view.seen.cancelled,
            state,
        });
    }

    /// A task that is polled or queued: polled if a worker says so.
    fn claimed(&mut self, id: Id, busy: &[(u64, usize)], shared: &Shared) -> TaskState {
        match busy.iter().find(|(running, _)| *running == id.as_u64()) {
            None => TaskState::Queued,
            Some(&(_, worker)) => {
                self.running.insert(worker, id);
                TaskState::Running { worker, for_at_least: shared.peers[worker].service.still() }
            }
        }
    }
}

fn worker(peer: &Peer, running: Option<Id>) -> WorkerDump {
    WorkerDump {
        asleep: !peer.sleep.is_awake(),
        running,
        rotating: peer.rotating.len() + usize::from(peer.has_slot()),
        served: peer.served.len(),
        inbox: !peer.inbox.is_empty() || !peer.pinned_inbox.is_empty(),
        metrics: peer.metrics(),
    }
}
