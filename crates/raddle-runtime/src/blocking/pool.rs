//! The pool as its owner sees it.

use std::fmt;
use std::sync::Arc;

use raddle_base::clock::Instant;

use crate::blocking::config::Config;
use crate::blocking::error::{NoOutput, SubmitError};
use crate::blocking::handle::BlockingHandle;
use crate::blocking::job::{Job, Run, Typed};
use crate::blocking::shared::Shared;

/// Threads for calls that block.
///
/// The pool starts threads as jobs come, up to a maximum; beyond that jobs queue in order. A
/// thread without a job for the keep-alive ends. An accepted job runs, or its handle resolves to
/// an error. Dropping the pool closes it and does not wait.
pub struct BlockingPool {
    shared: Arc<Shared>,
}

impl BlockingPool {
    /// A pool without threads; the first job starts one.
    pub fn new(config: Config) -> Self {
        BlockingPool { shared: Shared::new(config) }
    }

    /// Has `job` run on a thread of the pool. Never blocks; starts a thread if none is free.
    ///
    /// A panic of the job is caught and dropped. If the pool is closed before the job began, the
    /// job is dropped without a run.
    ///
    /// # Errors
    ///
    /// The job back, if the pool is closed, its queue is full, or no thread could be started and
    /// none is there.
    pub fn submit(
        &self,
        job: Box<dyn FnOnce() + Send>,
    ) -> Result<(), SubmitError<Box<dyn FnOnce() + Send>>> {
        match self.shared.submit(Job::Plain(job)) {
            Ok(()) | Err((Job::Typed(_), _)) => Ok(()),
            Err((Job::Plain(job), refusal)) => Err(SubmitError { refusal, job }),
        }
    }

    /// Has `f` run on a thread of the pool and gives the handle to its output. Never blocks, and
    /// allocates once. If the pool refuses, the handle resolves to an error that says why.
    pub fn spawn<F, T>(&self, f: F) -> BlockingHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let typed = Arc::new(Typed::new(f));
        if let Err((job, refusal)) = self.shared.submit(Job::Typed(Arc::clone(&typed) as _)) {
            drop(job);
            typed.give_up(NoOutput::Refused(refusal));
        }
        BlockingHandle::new(typed)
    }

    /// As [`spawn`](Self::spawn), but gives the closure back if the pool refuses it.
    ///
    /// # Errors
    ///
    /// The closure and the reason.
    pub fn try_spawn<F, T>(&self, f: F) -> Result<BlockingHandle<T>, SubmitError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let typed = Arc::new(Typed::new(f));
        if let Err((job, refusal)) = self.shared.submit(Job::Typed(Arc::clone(&typed) as _)) {
            drop(job);
            // A refused job was not claimed: nobody else has it.
            if let Some(job) = typed.claim() {
                return Err(SubmitError { refusal, job });
            }
        }
        Ok(BlockingHandle::new(typed))
    }

    /// Ends admission: jobs that no thread has begun are dropped, and their handles say
    /// [`Refusal::Closed`](crate::blocking::Refusal::Closed); threads end after the job they run.
    /// Returns at once.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Closes the pool, then waits for its threads until `deadline`; returns how many still run
    /// a job. They are left alone and end with it. The calling thread, if it is one of the
    /// pool's, is neither waited for nor counted.
    pub fn shutdown(&self, deadline: Instant) -> usize {
        self.close();
        self.shared.wait_ended(deadline)
    }

    /// What the pool is doing right now.
    pub fn metrics(&self) -> BlockingMetrics {
        self.shared.with_state(|state| BlockingMetrics {
            threads: state.present(),
            idle_threads: state.idle(),
            queued_jobs: state.queued(),
        })
    }
}

impl Drop for BlockingPool {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for BlockingPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockingPool")
            .field("config", self.shared.config())
            .field("metrics", &self.metrics())
            .finish()
    }
}

/// A look at a [`BlockingPool`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockingMetrics {
    /// Threads that have been asked for and have not ended.
    pub threads: usize,
    /// Those without a job.
    pub idle_threads: usize,
    /// Jobs that wait for a thread.
    pub queued_jobs: usize,
}
