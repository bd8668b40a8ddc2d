//! Why a job was not taken, or gave no output.

use std::any::Any;
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

/// Why a job gave no output.
pub(crate) enum NoOutput {
    /// Taken back by an abort before it began.
    Aborted,
    /// Never begun.
    Refused(Refusal),
    /// It panicked.
    Panicked(Box<dyn Any + Send>),
}

/// Why a blocking job gave no output: it never ran, or it panicked.
pub struct JobError(NoOutput);

// SAFETY: shared references give out nothing of a panic's payload.
unsafe impl Sync for JobError {}

impl From<NoOutput> for JobError {
    fn from(reason: NoOutput) -> Self {
        JobError(reason)
    }
}

impl JobError {
    /// Whether the job never ran: it was aborted, or the pool refused it.
    pub fn is_cancelled(&self) -> bool {
        !self.is_panic()
    }

    /// Whether the job panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self.0, NoOutput::Panicked(_))
    }

    /// Why the pool refused the job, if it did.
    pub fn refusal(&self) -> Option<Refusal> {
        match self.0 {
            NoOutput::Refused(refusal) => Some(refusal),
            NoOutput::Aborted | NoOutput::Panicked(_) => None,
        }
    }

    /// The payload of the panic, for `std::panic::resume_unwind`, or the error back.
    ///
    /// # Errors
    ///
    /// The error itself if the job did not panic.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, JobError> {
        match self.0 {
            NoOutput::Panicked(payload) => Ok(payload),
            reason => Err(JobError(reason)),
        }
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            NoOutput::Aborted => f.write_str("the blocking job was aborted before it began"),
            NoOutput::Refused(refusal) => write!(f, "the blocking job never ran: {refusal}"),
            NoOutput::Panicked(_) => f.write_str("the blocking job panicked"),
        }
    }
}

impl fmt::Debug for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobError({self})")
    }
}

impl Error for JobError {}
