//! What can go wrong in a broadcast channel. Errors of senders give the value back.

use std::error::Error;
use std::fmt;

pub use crate::mpsc::error::{SendError, SendTimeoutError, TrySendError};

/// So many values were overwritten before they were received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lagged(pub u64);

impl fmt::Display for Lagged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the receiver was too slow and missed {} values", self.0)
    }
}

impl Error for Lagged {}

/// Why there is no next value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecvError {
    /// All senders are gone, and all values were received.
    Closed,
    /// So many values were missed. The next receive gives the oldest there is.
    Lagged(u64),
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvError::Closed => f.write_str("the channel is closed"),
            RecvError::Lagged(count) => Lagged(*count).fmt(f),
        }
    }
}

impl Error for RecvError {}

/// Why no value was received at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is no value now.
    Empty,
    /// All senders are gone, and all values were received.
    Closed,
    /// So many values were missed. The next receive gives the oldest there is.
    Lagged(u64),
}

impl From<RecvError> for TryRecvError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Closed => TryRecvError::Closed,
            RecvError::Lagged(count) => TryRecvError::Lagged(count),
        }
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryRecvError::Empty => f.write_str("the channel is empty"),
            TryRecvError::Closed => RecvError::Closed.fmt(f),
            TryRecvError::Lagged(count) => Lagged(*count).fmt(f),
        }
    }
}

impl Error for TryRecvError {}

/// Why no value was received in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// There was no value until time was up.
    Timeout,
    /// All senders are gone, and all values were received.
    Closed,
    /// So many values were missed. The next receive gives the oldest there is.
    Lagged(u64),
}

impl From<RecvError> for RecvTimeoutError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Closed => RecvTimeoutError::Closed,
            RecvError::Lagged(count) => RecvTimeoutError::Lagged(count),
        }
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvTimeoutError::Timeout => f.write_str("there was no value in time"),
            RecvTimeoutError::Closed => RecvError::Closed.fmt(f),
            RecvTimeoutError::Lagged(count) => Lagged(*count).fmt(f),
        }
    }
}

impl Error for RecvTimeoutError {}
