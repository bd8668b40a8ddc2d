//! Why a task gave no output: it was aborted, or it panicked.

use std::any::Any;
use std::fmt;

use crate::blocking::error::Refusal;
use crate::task::Id;

/// The reason why a joined task has no output.
pub struct JoinError {
    id: Id,
    cause: Cause,
}

enum Cause {
    Cancelled,
    Refused(Refusal),
    Panicked(Payload),
}

/// A panic payload that may be looked at from one thread at a time.
struct Payload(Box<dyn Any + Send>);

// SAFETY: no method gives out a shared reference to the payload but `as_str`, which looks for two
// types that are `Sync` (`&'static str` and `String`); everything else needs the value itself.
unsafe impl Sync for Payload {}

impl Payload {
    fn as_str(&self) -> Option<&str> {
        match self.0.downcast_ref::<&'static str>() {
            Some(text) => Some(text),
            None => self.0.downcast_ref::<String>().map(String::as_str),
        }
    }
}

impl JoinError {
    pub(crate) fn cancelled(id: Id) -> Self {
        JoinError { id, cause: Cause::Cancelled }
    }

    pub(crate) fn refused(id: Id, refusal: Refusal) -> Self {
        JoinError { id, cause: Cause::Refused(refusal) }
    }

    pub(crate) fn panicked(id: Id, payload: Box<dyn Any + Send>) -> Self {
        JoinError { id, cause: Cause::Panicked(Payload(payload)) }
    }

    /// The id of the task.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Whether the task was aborted, or its runtime shut down, before it ended; or whether it was
    /// a blocking job that the pool [refused](Self::refusal).
    pub fn is_cancelled(&self) -> bool {
        !self.is_panic()
    }

    /// Why the blocking pool did not run this job, if that is what happened.
    pub fn refusal(&self) -> Option<Refusal> {
        match self.cause {
            Cause::Refused(refusal) => Some(refusal),
            Cause::Cancelled | Cause::Panicked(_) => None,
        }
    }

    /// Whether the task panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self.cause, Cause::Panicked(_))
    }

    /// The message of the panic, if it had one in the form of a string.
    pub fn panic_message(&self) -> Option<&str> {
        match &self.cause {
            Cause::Cancelled | Cause::Refused(_) => None,
            Cause::Panicked(payload) => payload.as_str(),
        }
    }

    /// The payload of the panic, for `std::panic::resume_unwind`, or the error back.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, JoinError> {
        match self.cause {
            Cause::Panicked(payload) => Ok(payload.0),
            Cause::Cancelled | Cause::Refused(_) => Err(self),
        }
    }

    /// The payload of the panic.
    ///
    /// # Panics
    ///
    /// If the task did not panic: ask [`is_panic`](Self::is_panic) first.
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        match self.try_into_panic() {
            Ok(payload) => payload,
            Err(error) => panic!("the task did not panic: {error}"),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Cancelled => write!(f, "task {} was cancelled", self.id),
            Cause::Refused(refusal) => write!(f, "blocking job {} never ran: {refusal}", self.id),
            Cause::Panicked(payload) => match payload.as_str() {
                Some(message) => write!(f, "task {} panicked: {message}", self.id),
                None => write!(f, "task {} panicked", self.id),
            },
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

/// So that `spawn_blocking(f).await??` gives an `io::Result` where `f` does.
///
/// ```
/// use raddle_runtime::task::JoinError;
///
/// fn flatten<T>(joined: Result<std::io::Result<T>, JoinError>) -> std::io::Result<T> {
///     Ok(joined??)
/// }
/// assert_eq!(flatten(Ok(Ok(1))).unwrap(), 1);
/// ```
impl From<JoinError> for std::io::Error {
    fn from(error: JoinError) -> Self {
        std::io::Error::other(error)
    }
}

impl std::error::Error for JoinError {}
