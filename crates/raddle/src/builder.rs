//! The settings of a runtime, one call each, and the one call that most programs need.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use raddle_runtime::{Config, MAX_WORKERS, PanicPolicy, StuckTask};

use crate::backend::{Io, decide};
use crate::park::KernelDrivers;
use crate::runtime::Runtime;

/// Builds a [`Runtime`].
///
/// ```
/// let runtime = raddle::Runtime::builder().workers(2).name("proxy").build()?;
/// runtime.run(async { /* … */ });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Builder {
    pub(crate) config: Config,
    pub(crate) io: Option<Io>,
}

impl Builder {
    /// The usual settings.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Worker threads, from 1 to 1,024. By default as many as the process may use: its processor
    /// mask and the quota of its control group count.
    #[doc(alias = "worker_threads")]
    pub fn workers(mut self, workers: usize) -> Builder {
        self.config.workers = workers;
        self
    }

    /// Name of the worker threads, to which their number is appended. By default `raddle`. The
    /// kernel shows the first 15 bytes.
    #[doc(alias = "thread_name")]
    pub fn name(mut self, name: impl Into<String>) -> Builder {
        self.config.name = name.into();
        self
    }

    /// How I/O is done. Wins over the environment variable `RADDLE_IO`, which may be `auto`,
    /// `uring` (or `io_uring`), or `epoll`.
    pub fn io(mut self, io: Io) -> Builder {
        self.io = Some(io);
        self
    }

    /// The most threads that run blocking calls at a time. By default 512; there is always one.
    pub fn max_blocking_threads(mut self, threads: usize) -> Builder {
        self.config.blocking.max_threads = threads;
        self
    }

    /// How long a thread for blocking calls stays without a call. By default 10 s.
    #[doc(alias = "thread_keep_alive")]
    pub fn blocking_keep_alive(mut self, keep_alive: Duration) -> Builder {
        self.config.blocking.keep_alive = keep_alive;
        self
    }

    /// The most blocking calls that may wait for a thread; further ones are refused. By default
    /// there is no limit.
    pub fn blocking_queue_limit(mut self, limit: usize) -> Builder {
        self.config.blocking.queue_limit = Some(limit);
        self
    }

    /// What happens when a task panics and nobody will join it. By default nothing more than the
    /// message of the panic hook.
    pub fn on_unhandled_panic(mut self, policy: PanicPolicy) -> Builder {
        self.config.panic_policy = policy;
        self
    }

    /// Told the worker's number on each worker thread before it runs tasks. A panic in it is
    /// contained.
    pub fn on_thread_start(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Builder {
        self.config.on_thread_start = Some(Arc::new(hook));
        self
    }

    /// Told the worker's number on each worker thread after it has run its last task. A panic in
    /// it is contained.
    pub fn on_thread_stop(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Builder {
        self.config.on_thread_stop = Some(Arc::new(hook));
        self
    }

    /// Whether latencies and lengths are sampled for [`metrics`](crate::metrics), one event in 64.
    /// By default they are; plain counts are always kept.
    pub fn metrics(mut self, sampling: bool) -> Builder {
        self.config.metrics = sampling;
        self
    }

    /// The processors the workers are bound to: the first worker to the first one, and so on, and
    /// from the beginning again if there are more workers. By default none. A processor that the
    /// machine has and this process may not use leaves its workers unbound.
    pub fn cpus(mut self, cpus: impl IntoIterator<Item = usize>) -> Builder {
        self.config.cpus = cpus.into_iter().collect();
        self
    }

    /// The time that a busy worker aims to leave between two readings of the clock, from 1 µs to
    /// 10 ms; by default 25 µs. It reads it only while a timer is armed or I/O must be asked for by
    /// a system call (epoll), and so does this decide how late those are. Completions that have
    /// arrived wait for twice that time at most while served tasks run.
    pub fn service_target(mut self, target: Duration) -> Builder {
        self.config.service_target = target;
        self
    }

    /// How many times in a row a task that the running one has woken may go before all queued
    /// tasks, from 1 to 1,000; by default 3. The k-th served task waits for at most 2k dispatches,
    /// and with the default for 8k while such tasks keep coming: 2(n + 1)k with another limit n.
    pub fn slot_runs(mut self, runs: u32) -> Builder {
        self.config.slot_runs = runs;
        self
    }

    /// How long a worker with nothing to do looks for work before it blocks, at most 1 ms. By
    /// default it blocks at once: spinning saves the wake-up, some 5 to 50 µs, and costs the
    /// processor.
    pub fn spin_before_park(mut self, time: Duration) -> Builder {
        self.config.spin_before_park = time;
        self
    }

    /// Whether a thread looks after workers that do not move; by default there is one. Without it
    /// the other tasks, I/O and timers of a worker wait as long as its task does not return, and
    /// nothing is reported.
    pub fn monitor(mut self, monitor: bool) -> Builder {
        self.config.monitor = monitor;
        self
    }

    /// How long a worker may stay in one poll, while other work waits behind it, before that work
    /// is taken over; `None` for never. By default 2 ms. The monitor looks every 2 ms, so shorter
    /// times have the same effect as 2 ms, and up to 2.5 ms come on top.
    pub fn rescue_after(mut self, time: Option<Duration>) -> Builder {
        self.config.rescue = time.is_some();
        self.config.rescue_after = time.unwrap_or_default();
        self
    }

    /// How long a worker may stay in one poll before the task is reported to
    /// [`on_stuck_task`](Self::on_stuck_task); `None` for never. By default 100 ms.
    pub fn report_after(mut self, time: Option<Duration>) -> Builder {
        self.config.report_after = time;
        self
    }

    /// Told once of each task that does not return from a poll, on the monitor's thread, which
    /// looks after nobody meanwhile. A panic of the function is dropped. With or without it the
    /// report is also an event of `tracing`, of level `WARN` and target `raddle`.
    pub fn on_stuck_task(mut self, report: impl Fn(&StuckTask) + Send + Sync + 'static) -> Builder {
        self.config.on_stuck_task = Some(Arc::new(report));
        self
    }

    /// The most threads that stand in for workers that are stuck or in
    /// [`block_in_place`](crate::task::block_in_place), at most 1,024; 0 for none. By default as
    /// many as there are workers, and two more.
    pub fn max_stand_ins(mut self, threads: usize) -> Builder {
        self.config.stand_ins = Some(threads);
        self
    }

    /// Makes the runtime and starts its threads, all but that of the first worker; see
    /// [`Runtime::run`].
    ///
    /// # Errors
    ///
    /// If a setting makes no sense, io_uring was asked for and cannot be had, or threads or
    /// descriptors are exhausted.
    pub fn build(self) -> io::Result<Runtime> {
        let config = ready(self.config)?;
        let (inner, info) = decide(self.io)?.make(|backend| {
            raddle_runtime::Runtime::new(config.clone(), Box::new(KernelDrivers { backend }))
        })?;
        Ok(Runtime::from_parts(inner, info))
    }
}

/// Checks the settings, and adds that stuck tasks are traced.
pub(crate) fn ready(mut config: Config) -> io::Result<Config> {
    check(&config)?;
    let told = config.on_stuck_task.take();
    config.on_stuck_task = Some(Arc::new(move |task: &StuckTask| {
        tracing::warn!(target: "raddle", id = task.id.as_u64(), worker = task.worker, "{task}");
        if let Some(told) = &told {
            told(task);
        }
    }));
    Ok(config)
}

/// Refuses settings that make no sense.
fn check(config: &Config) -> io::Result<()> {
    let invalid = |text: String| Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    if config.workers == 0 || config.workers > MAX_WORKERS {
        let workers = config.workers;
        return invalid(format!("a runtime has 1 to {MAX_WORKERS} workers, not {workers}"));
    }
    let targets = Duration::from_micros(1)..=Duration::from_millis(10);
    if !targets.contains(&config.service_target) {
        return invalid(format!(
            "the service target is 1 µs to 10 ms, not {:?}",
            config.service_target
        ));
    }
    if !(1..=1000).contains(&config.slot_runs) {
        return invalid(format!("the slot runs 1 to 1,000 times, not {}", config.slot_runs));
    }
    if config.spin_before_park > Duration::from_millis(1) {
        return invalid(format!(
            "a worker spins for at most 1 ms before it blocks, not {:?}",
            config.spin_before_park
        ));
    }
    if config.stand_ins.is_some_and(|threads| threads > MAX_WORKERS) {
        return invalid(format!("at most {MAX_WORKERS} threads can stand in for workers"));
    }
    if config.report_after.is_some_and(|time| time.is_zero()) {
        return invalid(String::from("reports after no time would name every task: give a time"));
    }
    if config.rescue && config.rescue_after.is_zero() {
        return invalid(String::from(
            "rescues after no time would never let a task run: give a time",
        ));
    }
    if config.name.contains('\0') {
        return invalid(format!("the name of a thread has no zero byte: {:?}", config.name));
    }
    // SAFETY: takes a number and touches no memory of ours.
    let there = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    let known = |cpu: &usize| usize::try_from(there).map_or(true, |there| *cpu < there);
    match config.cpus.iter().find(|cpu| !known(cpu)) {
        Some(cpu) => invalid(format!("there is no processor {cpu} to bind a worker to")),
        None => Ok(()),
    }
}

impl Runtime {
    /// A runtime with the usual settings.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn new() -> io::Result<Runtime> {
        Builder::new().build()
    }

    /// Settings for a runtime.
    pub fn builder() -> Builder {
        Builder::new()
    }
}

/// Makes a runtime with the usual settings and runs `future` on it: the calling thread becomes
/// worker 0 and polls `future`, which need be neither `Send` nor `'static`.
///
/// # Panics
///
/// As [`Runtime::run`], and if the runtime cannot be made; use [`Runtime::builder`] to handle
/// that error.
#[track_caller]
pub fn run<F: Future>(future: F) -> F::Output {
    match Builder::new().build() {
        Ok(runtime) => runtime.run(future),
        Err(error) => panic!("the runtime cannot be made: {error}"),
    }
}
