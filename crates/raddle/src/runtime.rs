//! A runtime with drivers for the kernel: the scheduler's runtime, and what it uses for I/O.
//!
//! All that has to do with making one, using one from other threads and ending one can be named
//! from here; the crate's root has the same names.

use std::io;
use std::time::Duration;

use raddle_runtime as inner;
use raddle_runtime::task::JoinHandle;

pub use crate::backend::{Backend, Io, IoInfo};
pub use crate::builder::Builder;
pub use crate::local::LocalRuntime;
use raddle_runtime::Dump;
/// The guard of [`Runtime::enter`], under tokio's name.
pub use raddle_runtime::Enter as EnterGuard;
pub use raddle_runtime::{
    Enter, Handle, LeftTask, Metrics, Others, PanicPolicy, ShutdownReport, StuckTask, ThreadHook,
    UnhandledPanic, WorkerMetrics,
};

/// Workers, drivers, timers and blocking threads that belong together.
///
/// Dropping it shuts it down, with a limit of one second; dropped on one of its own workers, it
/// begins to shut down and does not wait.
#[derive(Debug)]
pub struct Runtime {
    inner: inner::Runtime,
    io: IoInfo,
}

impl Runtime {
    pub(crate) fn from_parts(inner: inner::Runtime, io: IoInfo) -> Runtime {
        Runtime { inner, io }
    }

    /// What is used for I/O, and why.
    pub fn io(&self) -> &IoInfo {
        &self.io
    }

    /// A handle for other threads.
    pub fn handle(&self) -> &Handle {
        self.inner.handle()
    }

    /// Runs `future` to its end on this thread, then shuts the runtime down with a limit of one
    /// second.
    ///
    /// If the runtime has not been used otherwise, this thread becomes worker 0, and `future` is
    /// polled here among the other tasks; it need be neither `Send` nor `'static`. Else this is
    /// [`block_on`](Self::block_on) and a shutdown.
    ///
    /// # Panics
    ///
    /// A panic of `future` is passed on after the shutdown. Inside an async task, and if worker
    /// 0's driver cannot be made; [`try_run`](Self::try_run) gives that error back.
    #[track_caller]
    pub fn run<F: Future>(self, future: F) -> F::Output {
        self.inner.run(future)
    }

    /// As [`run`](Self::run), and gives the error back if worker 0's driver cannot be made.
    ///
    /// # Errors
    ///
    /// Descriptors or memory are exhausted; `future` was not polled.
    #[track_caller]
    pub fn try_run<F: Future>(self, future: F) -> io::Result<F::Output> {
        self.inner.try_run(future)
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
        self.inner.run_with_limit(future, limit)
    }

    /// Runs `future` to its end on this thread, which does not become a worker: awaits of spawned
    /// tasks cross threads.
    ///
    /// # Panics
    ///
    /// Inside an async task, where it would block a worker.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.inner.block_on(future)
    }

    /// Spawns a task; see [`spawn`](crate::spawn).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.inner.spawn(future)
    }

    /// Has `f` run on a thread that may block; see [`spawn_blocking`](crate::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.inner.spawn_blocking(f)
    }

    /// Makes this the runtime of the calling thread until the guard is dropped; see
    /// [`Handle::enter`]. This thread does not become a worker.
    pub fn enter(&self) -> Enter {
        self.inner.handle().enter()
    }

    /// What the workers have done so far: counts, and how long events waited for them; see
    /// [`metrics`](crate::metrics).
    pub fn metrics(&self) -> Metrics {
        self.inner.metrics()
    }

    /// What all tasks and workers are at, without polling any; see [`dump`](crate::dump).
    ///
    /// Takes some 100 ns and 100 bytes for each task. Workers go on meanwhile.
    pub fn dump(&self) -> Dump {
        self.inner.dump()
    }

    /// Shuts down within `limit` (and about 100 ms), whatever tasks and jobs do: admission
    /// closes, live tasks are dropped at their next turn, blocking jobs are waited for. Tells
    /// what was left.
    pub fn shutdown_timeout(self, limit: Duration) -> ShutdownReport {
        self.inner.shutdown_timeout(limit)
    }

    /// As [`shutdown_timeout`](Self::shutdown_timeout), but lets tasks go on for up to `grace`
    /// first, until none is left.
    pub fn shutdown_graceful(self, grace: Duration, limit: Duration) -> ShutdownReport {
        self.inner.shutdown_graceful(grace, limit)
    }

    /// Begins to shut down and does not wait.
    pub fn shutdown_background(self) {
        self.inner.shutdown_background();
    }
}
