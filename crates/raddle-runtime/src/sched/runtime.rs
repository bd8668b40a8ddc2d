//! A runtime one owns, and the handle by which other threads use it.

use std::fmt;
use std::io;
use std::mem::ManuallyDrop;
use std::panic::{Location, resume_unwind};
use std::pin::pin;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::context::{self, Place};

use crate::blocking::{BlockingPool, SubmitError, job};
use crate::sched::config::Config;
use crate::sched::current;
use crate::sched::monitor;
use crate::sched::park::Drivers;
use crate::sched::registry;
use crate::sched::root::{Outcome, Root};
use crate::sched::shared::Shared;
use crate::sched::shutdown::{self, ShutdownReport};
use crate::sched::size::MAX_WORKERS;
use crate::sched::threads;
use crate::sched::worker::Worker;
use crate::task::JoinHandle;
use crate::time;

/// How long the end of [`Runtime::run`] and the drop of a [`Runtime`] wait for what is left.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(1);

/// Workers, queues, timers and blocking threads that belong together.
///
/// Dropping it shuts it down, with a limit of [`DEFAULT_LIMIT`]; dropped on one of its own
/// workers, it begins to shut down and does not wait.
pub struct Runtime {
    handle: Handle,
}

/// A way to use a runtime from anywhere. Cheap to clone; does not keep the runtime from ending.
#[derive(Clone)]
pub struct Handle {
    pub(crate) shared: Arc<Shared>,
}

impl Runtime {
    /// Makes a runtime. The threads of all workers but the first are started now; the first
    /// worker is the thread that calls [`run`](Self::run), or a thread of its own that is started
    /// when the runtime is used in any other way.
    ///
    /// # Errors
    ///
    /// If the settings make no sense (no worker, more than [`MAX_WORKERS`]), a thread cannot be
    /// started, or a driver cannot be made.
    pub fn new(config: Config, drivers: Box<dyn Drivers>) -> io::Result<Runtime> {
        if config.workers == 0 || config.workers > MAX_WORKERS {
            let text = format!("a runtime has 1 to {MAX_WORKERS} workers, not {}", config.workers);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let shared = Shared::new(config, drivers);
        registry::enter(&shared);
        let weak = Arc::downgrade(&shared);
        shared.blocking.enter_with(move || {
            let handle = Handle { shared: weak.upgrade()? };
            Some(Box::new(handle.enter_started()))
        });
        // From here on, an error drops the runtime, which ends the threads that were started.
        let runtime = Runtime { handle: Handle { shared } };
        threads::start_workers(&runtime.handle.shared, 1)?;
        monitor::start(&runtime.handle.shared)?;
        Ok(runtime)
    }

    /// A handle for other threads.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs `future` to its end on this thread, then shuts the runtime down.
    ///
    /// If the runtime has not been used otherwise, this thread becomes worker 0, and `future` is
    /// polled here among the other tasks; it need not be `Send` or `'static`. Else this is
    /// [`block_on`](Self::block_on) and a shutdown.
    ///
    /// Tasks that are left are dropped when `future` ends. What cannot be dropped within
    /// [`DEFAULT_LIMIT`] is left behind; [`run_with_limit`](Self::run_with_limit) tells what.
    ///
    /// # Panics
    ///
    /// A panic of `future` is passed on after the shutdown, and so is the panic that ended a
    /// runtime under [`PanicPolicy::Shutdown`](crate::PanicPolicy::Shutdown). Panics inside an
    /// async task, and if worker 0's driver cannot be made; [`try_run`](Self::try_run) gives that
    /// error back.
    #[track_caller]
    pub fn run<F: Future>(self, future: F) -> F::Output {
        match self.try_run(future) {
            Ok(output) => output,
            Err(error) => panic!("worker 0 cannot be started: {error}"),
        }
    }

    /// As [`run`](Self::run), and gives the error back if worker 0's driver cannot be made.
    ///
    /// # Errors
    ///
    /// What the making of the driver gave; `future` was not polled.
    #[track_caller]
    pub fn try_run<F: Future>(self, future: F) -> io::Result<F::Output> {
        self.run_with_limit(future, DEFAULT_LIMIT).map(|(output, _)| output)
    }

    /// As [`try_run`](Self::try_run), with a limit for the shutdown and its report.
    ///
    /// # Errors
    ///
    /// As [`try_run`](Self::try_run).
    #[track_caller]
    pub fn run_with_limit<F: Future>(
        self,
        future: F,
        limit: Duration,
    ) -> io::Result<(F::Output, ShutdownReport)> {
        let shared = self.handle.shared.clone();
        shared.refuse_fork();
        refuse_in_task("Runtime::run");
        let Some(seat) = shared.with_first(Option::take) else {
            let output = self.block_on(future);
            return Ok((output, self.shutdown_timeout(limit)));
        };
        let worker = Worker::new(shared.clone(), 0, seat)?;
        let (outcome, report) = drive(&worker, future, limit, Location::caller());
        // Shut down already; the drop has nothing to do.
        drop(worker);
        let ended = shared.panic.lock().take();
        match (outcome, ended) {
            (Some(Ok(output)), None) => Ok((output, report)),
            (Some(Err(payload)), _) | (_, Some(payload)) => resume_unwind(payload),
            (None, None) => panic!("the runtime was shut down before its main future ended"),
        }
    }

    /// Runs `future` to its end on this thread, which does not become a worker: awaits of spawned
    /// tasks cross threads. Tasks go on afterwards.
    ///
    /// # Panics
    ///
    /// Inside an async task, where it would block a worker.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }

    /// Spawns a task. See [`spawn`](crate::spawn).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Has `f` run on a thread that may block. See [`spawn_blocking`](crate::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.handle.spawn_blocking(f)
    }

    /// Shuts down: admission closes, live tasks are dropped at their next turn, blocking jobs are
    /// waited for. Returns within `limit` (and about 100 ms more), whatever tasks and jobs do, and
    /// tells what was left.
    pub fn shutdown_timeout(self, limit: Duration) -> ShutdownReport {
        end(&self.handle.shared, Duration::ZERO, limit)
    }

    /// As [`shutdown_timeout`](Self::shutdown_timeout), but lets tasks go on for up to `grace`
    /// first, until none is left.
    pub fn shutdown_graceful(self, grace: Duration, limit: Duration) -> ShutdownReport {
        end(&self.handle.shared, grace, limit)
    }

    /// Begins to shut down and does not wait.
    pub fn shutdown_background(self) {
        shutdown::begin(&self.handle.shared, Instant::now() + DEFAULT_LIMIT);
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let shared = &self.handle.shared;
        if shared.is_forked() || shared.phase.is_ending() {
            return;
        }
        if current::index_in(shared.address()).is_some() || is_in_task() {
            shutdown::begin(shared, Instant::now() + DEFAULT_LIMIT);
        } else {
            end(shared, Duration::ZERO, DEFAULT_LIMIT);
        }
    }
}

/// The whole end, from a thread that is no worker.
fn end(shared: &Arc<Shared>, grace: Duration, limit: Duration) -> ShutdownReport {
    let limit = Instant::now() + limit;
    if grace > Duration::ZERO {
        shutdown::close(shared);
        shutdown::wait_gracefully(shared, Instant::now() + grace);
    }
    shutdown::begin(shared, limit);
    shutdown::finish(shared, limit)
}

/// Worker 0's life on the caller's thread, around the caller's future.
fn drive<F: Future>(
    worker: &Worker,
    future: F,
    limit: Duration,
    site: &'static Location<'static>,
) -> (Outcome<F::Output>, ShutdownReport) {
    let shared = &worker.shared;
    let mut future = pin!(Some(future));
    let mut outcome: Outcome<F::Output> = None;
    // SAFETY: the future is pinned in this frame and only projected to, never moved.
    let place = unsafe { future.as_mut().get_unchecked_mut() };
    let place = place.as_mut().map_or(ptr::null_mut(), ptr::from_mut);
    // SAFETY: future and outcome live in this frame; the task is pinned to worker 0, which runs
    // in this frame only, and this frame returns after its last dispatch.
    let root = unsafe { Root::new(place, &raw mut outcome, Arc::downgrade(shared)) };
    let mut deadline = Instant::FAR_FUTURE;
    threads::live_around(worker, |worker| {
        // SAFETY: made on worker 0's thread, which is this one; the output is `()`.
        drop(unsafe { shared.spawn_pinned(0, root, None, site) });
        worker.run();
        // The future goes first, on its own thread, while driver and timers are there.
        job::contain(|| future.set(None));
        deadline = Instant::now() + limit;
        shutdown::begin(shared, deadline);
    });
    (outcome, shutdown::finish(shared, deadline))
}

impl Handle {
    /// The runtime that this thread works for or was entered into.
    pub fn try_current() -> Option<Handle> {
        let shared = current::scheduler().cast::<Shared>();
        if shared.is_null() {
            return None;
        }
        // SAFETY: entries of `current` point at a `Shared` that an `Arc` on this thread's stack
        // keeps alive.
        let shared = unsafe {
            Arc::increment_strong_count(shared);
            Arc::from_raw(shared)
        };
        Some(Handle { shared })
    }

    /// The runtime that this thread works for or was entered into.
    ///
    /// # Panics
    ///
    /// On a thread that belongs to no runtime.
    #[track_caller]
    pub fn current() -> Handle {
        match Handle::try_current() {
            Some(handle) => handle,
            None => panic!("{}", current::NO_RUNTIME),
        }
    }

    /// Spawns a task. See [`spawn`](crate::spawn).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.start_first();
        self.shared.spawn(future, None, Location::caller())
    }

    /// Runs `f` on a thread that may block. See [`spawn_blocking`](crate::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.spawn_blocking_at(f, Location::caller())
    }

    pub(crate) fn spawn_blocking_at<F, T>(
        &self,
        f: F,
        site: &'static Location<'static>,
    ) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.start_first();
        self.shared.spawn_blocking(f, None, site)
    }

    /// As [`spawn_blocking`](Self::spawn_blocking), but gives the closure back where the pool has
    /// no place for it: with a [limit](crate::blocking::Config::queue_limit) that is reached.
    ///
    /// # Errors
    ///
    /// The closure, if the pool's queue is full or the runtime has begun to shut down.
    #[track_caller]
    pub fn try_spawn_blocking<F, T>(&self, f: F) -> Result<JoinHandle<T>, SubmitError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.start_first();
        let site = Location::caller();
        match self.shared.blocking.try_reserve() {
            Ok(place) => Ok(self.shared.spawn_blocking(f, Some(place), site)),
            Err(refusal) => Err(SubmitError { refusal, job: f }),
        }
    }

    /// As [`spawn_blocking`](Self::spawn_blocking), but waits for a place first, so that a fast
    /// producer is held back by a pool with a limited queue.
    ///
    /// # Errors
    ///
    /// The closure, if the runtime begins to shut down first.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the closure without a run.
    #[track_caller]
    pub fn spawn_blocking_in_turn<F, T>(
        &self,
        f: F,
    ) -> impl Future<Output = Result<JoinHandle<T>, SubmitError<F>>> + Send + use<F, T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.start_first();
        let site = Location::caller();
        let shared = self.shared.clone();
        async move {
            match shared.blocking.reserve().await {
                Ok(place) => Ok(shared.spawn_blocking(f, Some(place), site)),
                Err(refusal) => Err(SubmitError { refusal, job: f }),
            }
        }
    }

    /// The pool of threads for calls that block, for jobs without a handle and for submissions
    /// that may be refused.
    pub fn blocking_pool(&self) -> &BlockingPool {
        &self.shared.blocking
    }

    /// See [`Runtime::block_on`].
    ///
    /// # Panics
    ///
    /// Inside an async task, where it would block a worker.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        refuse_in_task("block_on");
        let _entered = self.enter();
        raddle_sync::block_on(future)
    }

    /// Makes this the runtime of the calling thread: [`spawn`](crate::spawn), timers and sockets
    /// find it, until the guard is dropped.
    ///
    /// # Panics
    ///
    /// Guards must be dropped in the reverse order of their making, on the task or thread that
    /// made them; dropping one earlier panics, and leaves its runtime entered and its memory kept.
    pub fn enter(&self) -> Enter {
        self.start_first();
        self.enter_started()
    }

    /// As [`enter`](Self::enter), for threads of the runtime.
    fn enter_started(&self) -> Enter {
        self.shared.refuse_fork();
        let peer = &self.shared.peers[self.shared.next_worker()];
        Enter {
            entry: current::enter_foreign(self.shared.address()),
            timers: ManuallyDrop::new(time::current::install_remote(&peer.timers)),
            driver: ManuallyDrop::new(peer.remote.get().map(|remote| remote.install())),
            handle: ManuallyDrop::new(self.clone()),
        }
    }

    /// Starts the thread of worker 0, if there is none and the runtime is not being run.
    #[track_caller]
    fn start_first(&self) {
        self.shared.refuse_fork();
        if self.shared.first_waits() {
            threads::start_first(&self.shared);
        }
    }
}

/// Leaves the runtime when dropped. Guards are dropped in reverse order of their making.
#[must_use = "the runtime is left as soon as this is dropped"]
pub struct Enter {
    entry: current::Foreign,
    timers: ManuallyDrop<time::current::Installed>,
    driver: ManuallyDrop<Option<Box<dyn std::any::Any>>>,
    /// Keeps what the entry points at.
    handle: ManuallyDrop<Handle>,
}

impl Drop for Enter {
    fn drop(&mut self) {
        if self.entry.leave() {
            // SAFETY: each once, here, and the guard is not used afterwards.
            unsafe {
                ManuallyDrop::drop(&mut self.driver);
                ManuallyDrop::drop(&mut self.timers);
                ManuallyDrop::drop(&mut self.handle);
            }
            return;
        }
        // The entry stays, and so does what it points at: nothing is dropped.
        // SAFETY: as above.
        registry::keep_guard(unsafe {
            (
                ManuallyDrop::take(&mut self.timers),
                ManuallyDrop::take(&mut self.driver),
                ManuallyDrop::take(&mut self.handle),
            )
        });
        if !std::thread::panicking() {
            panic!("guards of `enter` must be dropped in the reverse order of their making");
        }
    }
}

/// Whether this thread is in the poll of a task, or on a stack within one.
fn is_in_task() -> bool {
    matches!(context::place(), Place::Task | Place::Actor)
}

#[track_caller]
fn refuse_in_task(what: &str) {
    assert!(
        !is_in_task(),
        "{what} was called inside an async task, where it would block a worker; await the future \
         instead, or use spawn_blocking or block_in_place for code that must block"
    );
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("config", &self.handle.shared.config).finish()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("config", &self.shared.config).finish()
    }
}

impl fmt::Debug for Enter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Enter")
    }
}
