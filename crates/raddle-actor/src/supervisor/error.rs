//! Why a supervisor did not start, or did not do what it was asked to.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::exit::ExitReason;

/// How the start of a supervisor went.
pub(super) type Ready = Result<(), StartError>;

/// Why a supervisor, or a child of a running one, did not start. What had been started before it
/// was stopped again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartError {
    pub(super) child: Arc<str>,
    pub(super) reason: ExitReason,
}

impl StartError {
    /// The name of the child that did not start.
    pub fn child(&self) -> &str {
        &self.child
    }

    /// Why it did not.
    pub fn reason(&self) -> &ExitReason {
        &self.reason
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the child {} did not start: {}", self.child, self.reason)
    }
}

impl Error for StartError {}

/// Why a supervisor did not do what it was asked to do with a child.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChildError {
    /// It has a child of this name already.
    NameTaken,
    /// It has no child of this name.
    Unknown,
    /// The child runs: terminate it first.
    Runs,
    /// The child did not start.
    Start(StartError),
    /// The supervisor has ended, or ends.
    Ended,
}

impl fmt::Display for ChildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChildError::NameTaken => f.write_str("there is a child of this name already"),
            ChildError::Unknown => f.write_str("there is no child of this name"),
            ChildError::Runs => f.write_str("the child runs: terminate it first"),
            ChildError::Start(error) => error.fmt(f),
            ChildError::Ended => f.write_str("the supervisor has ended"),
        }
    }
}

impl Error for ChildError {}
