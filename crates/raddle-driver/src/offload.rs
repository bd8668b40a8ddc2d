//! The third way to carry out an operation: a blocking call, on a thread that may block.
//!
//! epoll cannot wait for regular files. What a backend cannot do goes to an [`Offload`] object that
//! was given when the driver was made; the driver knows no thread pool. On io_uring it is not used.

use std::error::Error;
use std::fmt;

/// Runs blocking jobs on threads of its own.
pub trait Offload: Send + Sync {
    /// Takes a job and runs it soon, once, on a thread that may block.
    ///
    /// # Errors
    ///
    /// The job was not taken and has been dropped. Dropping a taken job without running it is
    /// allowed too (at shutdown): the operation behind it then fails.
    fn run(&self, job: Box<dyn FnOnce() + Send>) -> Result<(), OffloadError>;
}

/// A job was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffloadError {
    /// Too many jobs wait already.
    Full,
    /// No job will be taken any more.
    Closed,
}

impl fmt::Display for OffloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OffloadError::Full => "too many blocking jobs are waiting",
            OffloadError::Closed => "the pool for blocking jobs is shut down",
        })
    }
}

impl Error for OffloadError {}

/// Takes no job: for drivers that never see a regular file.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOffload;

impl Offload for NoOffload {
    fn run(&self, _job: Box<dyn FnOnce() + Send>) -> Result<(), OffloadError> {
        Err(OffloadError::Closed)
    }
}
