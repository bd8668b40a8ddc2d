//! A runtime on one thread, whose tasks need not be `Send`.

use std::io;

use raddle_runtime::{Dump, Metrics};

use crate::backend::{Io, IoInfo, decide};
use crate::builder::{Builder, ready};
use crate::park::KernelDrivers;
use crate::runtime::Runtime;

/// One thread for all tasks: those spawned with [`spawn_local`](crate::spawn_local) stay on it and
/// may hold anything. A second thread only looks whether a task does not return, and reports it;
/// [`Builder::monitor`] does without.
///
/// Its one worker is the thread that calls [`run`](Self::run). Wakers stay `Send`, so task headers
/// and the inbox for wakes of other threads are atomic as in any runtime; the queue of local tasks
/// is not.
///
/// When a task blocks in [`block_in_place`](crate::task::block_in_place), a stand-in thread runs
/// the tasks that are `Send`, with their I/O and timers; all others wait.
#[derive(Debug)]
pub struct LocalRuntime {
    runtime: Runtime,
}

impl LocalRuntime {
    /// A local runtime; I/O as the environment variable `RADDLE_IO` says, or as is best.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn new() -> io::Result<LocalRuntime> {
        LocalRuntime::make(Builder::new())
    }

    /// A local runtime with I/O of the caller's choice.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn with_io(io: Io) -> io::Result<LocalRuntime> {
        LocalRuntime::make(Builder::new().io(io))
    }

    /// A local runtime with the settings of `builder`, but for the number of workers.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn make(builder: Builder) -> io::Result<LocalRuntime> {
        let config = raddle_runtime::Config { workers: 1, rescue: false, ..builder.config };
        let config = ready(config)?;
        let (inner, info) = decide(builder.io)?.make(|backend| {
            raddle_runtime::Runtime::new(config.clone(), Box::new(KernelDrivers { backend }))
        })?;
        Ok(LocalRuntime { runtime: Runtime::from_parts(inner, info) })
    }

    /// What is used for I/O, and why.
    pub fn io(&self) -> &IoInfo {
        self.runtime.io()
    }

    /// What the worker has done so far; see [`metrics`](crate::metrics). While the runtime is being
    /// run, [`Handle::current`](crate::Handle::current) in a task gives a handle that tells.
    pub fn metrics(&self) -> Metrics {
        self.runtime.metrics()
    }

    /// What all tasks are at; see [`dump`](crate::dump), and [`metrics`](Self::metrics) for how to
    /// have one while the runtime is being run.
    pub fn dump(&self) -> Dump {
        self.runtime.dump()
    }

    /// Runs `future` to its end on this thread; see [`Runtime::run`].
    ///
    /// # Panics
    ///
    /// As [`Runtime::run`].
    #[track_caller]
    pub fn run<F: Future>(self, future: F) -> F::Output {
        self.runtime.run(future)
    }

    /// As [`run`](Self::run), and gives the error back if the driver cannot be made.
    ///
    /// # Errors
    ///
    /// As [`Runtime::try_run`].
    #[track_caller]
    pub fn try_run<F: Future>(self, future: F) -> io::Result<F::Output> {
        self.runtime.try_run(future)
    }
}
