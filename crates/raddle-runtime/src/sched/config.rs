//! What may be chosen about a runtime, and what happens to panics that nobody joins.

use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::blocking;
use crate::sched::stuck::StuckTask;
use crate::task::Id;

/// A function that is told of a worker thread's start or end.
pub type ThreadHook = Arc<dyn Fn(usize) + Send + Sync>;

/// A function that is told of a task that does not return.
pub type StuckHook = Arc<dyn Fn(&StuckTask) + Send + Sync>;

/// By default the clock is read every 25 µs of a busy worker that needs it.
const SERVICE_TARGET: Duration = Duration::from_micros(25);
/// By default a woken task overtakes the queues three times in a row.
const SLOT_RUNS: u32 = 3;
/// By default a worker is stuck after 2 ms in one poll with work behind it.
const RESCUE_AFTER: Duration = Duration::from_millis(2);
/// By default a task is reported after 100 ms in one poll.
const REPORT_AFTER: Duration = Duration::from_millis(100);

/// What happens when a task panics and nobody will join it.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum PanicPolicy {
    /// Nothing more: the panic hook has printed its message already.
    #[default]
    Ignore,
    /// The function is told, on the thread where the task panicked. A panic of its own is
    /// dropped.
    Call(Arc<dyn Fn(&UnhandledPanic<'_>) + Send + Sync>),
    /// The runtime shuts down: [`run`](crate::Runtime::run) ends by resuming the panic.
    Shutdown,
    /// The process aborts.
    Abort,
}

impl fmt::Debug for PanicPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PanicPolicy::Ignore => "Ignore",
            PanicPolicy::Call(_) => "Call(..)",
            PanicPolicy::Shutdown => "Shutdown",
            PanicPolicy::Abort => "Abort",
        })
    }
}

/// A panic that nobody joins.
#[derive(Debug)]
#[non_exhaustive]
pub struct UnhandledPanic<'a> {
    /// The task.
    pub id: Id,
    /// Its name, if it was given one.
    pub name: Option<&'a str>,
    /// Where it was spawned.
    pub spawned_at: &'static Location<'static>,
    /// The payload of the panic.
    pub payload: &'a (dyn Any + Send),
}

/// The settings of a runtime.
#[derive(Clone)]
pub struct Config {
    /// Worker threads, at least 1.
    pub workers: usize,
    /// Name of the worker threads; the worker's number is appended.
    pub name: String,
    /// Threads for blocking calls.
    pub blocking: blocking::Config,
    /// Panics that nobody joins.
    pub panic_policy: PanicPolicy,
    /// Told on each worker thread before it runs tasks.
    pub on_thread_start: Option<ThreadHook>,
    /// Told on each worker thread after it has run its last task.
    pub on_thread_stop: Option<ThreadHook>,
    /// The time between two readings of the clock that a busy worker aims at while a timer is armed
    /// or its driver must be asked.
    pub service_target: Duration,
    /// How many times in a row a task woken by the running one may go before the queues; at least
    /// 1.
    pub slot_runs: u32,
    /// How long a worker with nothing to do looks for work before it blocks.
    pub spin_before_park: Duration,
    /// Whether a thread looks after workers that do not move. Without it nothing is rescued and
    /// nothing reported.
    pub monitor: bool,
    /// Whether the other work of a stuck worker is taken over.
    pub rescue: bool,
    /// How long a worker stays in one dispatch, with work behind it, before that is taken over.
    pub rescue_after: Duration,
    /// How long a worker stays in one dispatch before its task is reported; `None` for never.
    pub report_after: Option<Duration>,
    /// Told once of each task that does not return for `report_after`, on the monitor's thread.
    pub on_stuck_task: Option<StuckHook>,
    /// The most threads that stand in for workers that are stuck or in blocking sections; by
    /// default as many as there are workers, and two more.
    pub stand_ins: Option<usize>,
    /// Whether service latencies and lengths of dispatches are sampled, which reads the clock for
    /// one event in 64. Plain counts are always kept.
    pub metrics: bool,
    /// The processors the workers are bound to, one after the other; empty for none.
    pub cpus: Vec<usize>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            workers: crate::sched::size::available_workers(),
            name: String::from("raddle"),
            blocking: blocking::Config::default(),
            panic_policy: PanicPolicy::default(),
            on_thread_start: None,
            on_thread_stop: None,
            service_target: SERVICE_TARGET,
            slot_runs: SLOT_RUNS,
            spin_before_park: Duration::ZERO,
            monitor: true,
            rescue: true,
            rescue_after: RESCUE_AFTER,
            report_after: Some(REPORT_AFTER),
            on_stuck_task: None,
            stand_ins: None,
            metrics: true,
            cpus: Vec::new(),
        }
    }
}

impl Config {
    /// How many stand-ins there may be.
    pub(crate) fn stand_ins(&self) -> usize {
        self.stand_ins.unwrap_or(self.workers + 2)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("workers", &self.workers)
            .field("name", &self.name)
            .field("blocking", &self.blocking)
            .field("panic_policy", &self.panic_policy)
            .field("service_target", &self.service_target)
            .field("slot_runs", &self.slot_runs)
            .field("spin_before_park", &self.spin_before_park)
            .field("monitor", &self.monitor)
            .field("rescue", &self.rescue)
            .field("rescue_after", &self.rescue_after)
            .field("report_after", &self.report_after)
            .field("stand_ins", &self.stand_ins)
            .field("metrics", &self.metrics)
            .field("cpus", &self.cpus)
            .finish_non_exhaustive()
    }
}
