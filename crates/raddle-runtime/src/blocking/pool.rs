//! The pool as its owner sees it.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use raddle_base::clock::Instant;

use crate::blocking::config::Config;
use crate::blocking::error::{Refusal, SubmitError};
use crate::blocking::shared::{Reservation, Shared};

/// Threads for calls that block.
///
/// The pool starts threads as jobs come, up to a maximum; beyond that jobs queue in order. A
/// thread without a job for the keep-alive ends. An accepted job runs, or is dropped, by which its
/// handle resolves to an error: the [`spawn_blocking`](crate::spawn_blocking) of a runtime makes
/// jobs with handles. Dropping the pool closes it and does not wait.
pub struct BlockingPool {
    shared: Arc<Shared>,
}

impl BlockingPool {
    /// A pool without threads; the first job starts one.
    pub fn new(config: Config) -> Self {
        BlockingPool { shared: Shared::new(config) }
    }

    /// Has each thread call `enter` and keep the result while it runs jobs. To be called before
    /// the first job; later calls change nothing.
    pub(crate) fn enter_with(
        &self,
        enter: impl Fn() -> Option<Box<dyn Any>> + Send + Sync + 'static,
    ) {
        let _set_before = self.shared.enter.set(Box::new(enter));
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
        self.shared.submit(job).map_err(|(job, refusal)| SubmitError { refusal, job })
    }

    /// Reserves a place for a job, if there is one: a thread that may run it, or room in the queue.
    ///
    /// # Errors
    ///
    /// If the pool is closed or its queue is full.
    pub fn try_reserve(&self) -> Result<Reservation, Refusal> {
        self.shared.try_reserve()
    }

    /// Waits until there is a place for a job and reserves it: what to do before producing more
    /// work than a bounded queue takes. Those that wait are served in turn; a submission without
    /// a reservation may come between.
    ///
    /// # Errors
    ///
    /// If the pool is closed, also while this waits.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses its place in the line and nothing else.
    pub async fn reserve(&self) -> Result<Reservation, Refusal> {
        self.shared.reserve().await
    }

    /// Ends admission: jobs that no thread has begun are dropped, those with a handle with the
    /// error [`Refusal::Closed`](crate::blocking::Refusal::Closed); threads end after the job they
    /// run. Returns at once.
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
