//! The handle by which one waits for a blocking job.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use raddle_base::context;

use crate::blocking::error::JobError;
use crate::blocking::job::Output;
use crate::blocking::shared;

/// Waits for the output of a blocking job.
///
/// Dropping the handle detaches the job: it runs all the same, and its output is dropped. A job
/// that was begun cannot be stopped.
///
/// # Cancel safety
///
/// Cancel-safe: a dropped wait on `&mut handle` loses nothing.
///
/// # Panics
///
/// Polling again after the output was taken panics.
#[must_use = "dropping the handle detaches the job; call `detach` to say so"]
pub struct BlockingHandle<T> {
    job: Arc<dyn Output<T>>,
}

impl<T> BlockingHandle<T> {
    pub(crate) fn new(job: Arc<dyn Output<T>>) -> Self {
        BlockingHandle { job }
    }

    /// Takes the job back if no thread has begun it; its handle then gives a cancelled error. A
    /// job that runs goes on. Never waits.
    pub fn abort(&self) {
        self.job.abort();
    }

    /// Whether the job has ended. True means that awaiting will not wait.
    pub fn is_finished(&self) -> bool {
        self.job.is_done()
    }

    /// Lets the job go on by itself, as dropping the handle does.
    pub fn detach(self) {}
}

impl<T> Future for BlockingHandle<T> {
    type Output = Result<T, JobError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        ready!(context::check_budget(cx));
        let Poll::Ready(output) = self.job.poll(cx) else {
            shared::waits();
            return Poll::Pending;
        };
        shared::resumed();
        context::spend();
        Poll::Ready(output.map_err(JobError::from))
    }
}

impl<T> fmt::Debug for BlockingHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockingHandle").field("is_finished", &self.is_finished()).finish()
    }
}
