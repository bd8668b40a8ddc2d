//! Why a pool did not take a job, or did not run it.

use std::error::Error;
use std::fmt;

/// Why a pool takes no job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The pool was shut down.
    Closed,
    /// As many jobs wait as may wait.
    Full,
    /// The operating system gave no thread, and there is none that would come to the job.
    NoThread {
        /// The error number of the operating system, if it gave one.
        os_error: Option<i32>,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Closed => f.write_str("the blocking pool is shut down"),
            Refusal::Full => f.write_str("the queue of the blocking pool is full"),
            Refusal::NoThread { os_error: None } => f.write_str("no thread could be started"),
            Refusal::NoThread { os_error: Some(code) } => {
                let error = std::io::Error::from_raw_os_error(*code);
                write!(f, "no thread could be started: {error}")
            }
        }
    }
}

impl Error for Refusal {}

/// A job that was not taken, and why. The job has not run and is given back.
pub struct SubmitError<J> {
    /// Why.
    pub refusal: Refusal,
    /// The job.
    pub job: J,
}

impl<J> SubmitError<J> {
    /// The job.
    pub fn into_job(self) -> J {
        self.job
    }
}

impl<J> fmt::Display for SubmitError<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl<J> fmt::Debug for SubmitError<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubmitError").field("refusal", &self.refusal).finish_non_exhaustive()
    }
}

impl<J> Error for SubmitError<J> {}
