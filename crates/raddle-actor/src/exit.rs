//! Why a process ended: what its links, its monitors and whoever joins it are told.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Why a process ended.
///
/// Cloning copies a tag and at most counts a reference.
#[derive(Clone)]
#[non_exhaustive]
pub enum ExitReason {
    /// It returned, or it left with this reason. Linked processes that do not trap exits go on.
    Normal,
    /// It was asked to stop, by a supervisor or at the end of the program, and did.
    Shutdown,
    /// It was ended from outside, without being asked.
    Killed,
    /// It panicked.
    Panicked(Arc<PanicReport>),
    /// There was no such process when a link or a monitor was made.
    NoProcess,
    /// It left with an error of its own.
    Failed(Arc<Failure>),
}

impl ExitReason {
    /// An end with an error, or with a message.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        ExitReason::Failed(Arc::new(Failure { error: error.into() }))
    }

    /// An end by a panic with this payload.
    pub fn panicked(payload: Box<dyn Any + Send>) -> Self {
        ExitReason::Panicked(Arc::new(PanicReport::new(payload)))
    }

    /// True for [`Normal`](Self::Normal): nothing went wrong, and links are not disturbed.
    pub fn is_normal(&self) -> bool {
        matches!(self, ExitReason::Normal)
    }

    /// True for the ends that nobody need be surprised at: normal and shutdown.
    pub fn is_orderly(&self) -> bool {
        matches!(self, ExitReason::Normal | ExitReason::Shutdown)
    }
}

/// Equal reasons: the same kind, and for those with a content the very same occurrence.
impl PartialEq for ExitReason {
    fn eq(&self, other: &Self) -> bool {
        use ExitReason::{Failed, Panicked};
        match (self, other) {
            (Panicked(a), Panicked(b)) => Arc::ptr_eq(a, b),
            (Failed(a), Failed(b)) => Arc::ptr_eq(a, b),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

impl Eq for ExitReason {}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExitReason::Normal => f.write_str("normal"),
            ExitReason::Shutdown => f.write_str("shutdown"),
            ExitReason::Killed => f.write_str("killed"),
            ExitReason::NoProcess => f.write_str("no such process"),
            ExitReason::Panicked(report) => write!(f, "panicked: {}", report.message()),
            ExitReason::Failed(failure) => write!(f, "failed: {failure}"),
        }
    }
}

impl fmt::Debug for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExitReason({self})")
    }
}

/// An error with which a process left.
#[derive(Debug)]
pub struct Failure {
    error: Box<dyn Error + Send + Sync>,
}

impl Failure {
    /// The error itself, to look into or to downcast.
    pub fn error(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.error
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// What is known of a panic that ended a process.
pub struct PanicReport {
    message: Box<str>,
    payload: Mutex<Option<Box<dyn Any + Send>>>,
}

impl PanicReport {
    fn new(payload: Box<dyn Any + Send>) -> Self {
        let message = payload
            .downcast_ref::<&'static str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("a payload that is no text");
        PanicReport { message: message.into(), payload: Mutex::new(Some(payload)) }
    }

    /// The message, if the payload was text.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The payload, for the first who asks: to resume the panic elsewhere.
    pub fn take_payload(&self) -> Option<Box<dyn Any + Send>> {
        self.payload.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for PanicReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PanicReport").field(&self.message).finish()
    }
}
