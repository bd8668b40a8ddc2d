//! What can go wrong. Errors of senders give the value back.
//!
//! *Closed* means that somebody called `close`; *disconnected* that nobody did, and all ends of the
//! other side are gone.

use std::error::Error;
use std::fmt;

/// Why a value will not be sent. Holds the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendError<T> {
    /// The channel was closed.
    Closed(T),
    /// All receivers are gone.
    Disconnected(T),
}

impl<T> SendError<T> {
    /// The value that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            SendError::Closed(value) | SendError::Disconnected(value) => value,
        }
    }

    /// The same error with another value.
    pub(super) fn map<U>(self, f: impl FnOnce(T) -> U) -> SendError<U> {
        match self {
            SendError::Closed(value) => SendError::Closed(f(value)),
            SendError::Disconnected(value) => SendError::Disconnected(f(value)),
        }
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendError::Closed(_) => "Closed(..)",
            SendError::Disconnected(_) => "Disconnected(..)",
        })
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendError::Closed(_) => CLOSED,
            SendError::Disconnected(_) => NO_RECEIVERS,
        })
    }
}

impl<T> Error for SendError<T> {}

const CLOSED: &str = "the channel is closed";
const NO_RECEIVERS: &str = "all receivers of the channel are gone";
const DRAINED: &str = "the channel is empty and closed";
const NO_SENDERS: &str = "the channel is empty and all its senders are gone";

/// Why a value was not sent at once. Holds the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// There is no room, or no receiver that waits.
    Full(T),
    /// The channel was closed.
    Closed(T),
    /// All receivers are gone.
    Disconnected(T),
}

impl<T> TrySendError<T> {
    /// The value that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            TrySendError::Full(value)
            | TrySendError::Closed(value)
            | TrySendError::Disconnected(value) => value,
        }
    }

    /// The same error with another value.
    pub(super) fn map<U>(self, f: impl FnOnce(T) -> U) -> TrySendError<U> {
        match self {
            TrySendError::Full(value) => TrySendError::Full(f(value)),
            TrySendError::Closed(value) => TrySendError::Closed(f(value)),
            TrySendError::Disconnected(value) => TrySendError::Disconnected(f(value)),
        }
    }
}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(error: SendError<T>) -> Self {
        match error {
            SendError::Closed(value) => TrySendError::Closed(value),
            SendError::Disconnected(value) => TrySendError::Disconnected(value),
        }
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "Full(..)",
            TrySendError::Closed(_) => "Closed(..)",
            TrySendError::Disconnected(_) => "Disconnected(..)",
        })
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "the channel has no room",
            TrySendError::Closed(_) => CLOSED,
            TrySendError::Disconnected(_) => NO_RECEIVERS,
        })
    }
}

impl<T> Error for TrySendError<T> {}

/// Why a value was not sent in time. Holds the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// Time was up first.
    Timeout(T),
    /// The channel was closed.
    Closed(T),
    /// All receivers are gone.
    Disconnected(T),
}

impl<T> SendTimeoutError<T> {
    /// The value that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            SendTimeoutError::Timeout(value)
            | SendTimeoutError::Closed(value)
            | SendTimeoutError::Disconnected(value) => value,
        }
    }
}

impl<T> From<SendError<T>> for SendTimeoutError<T> {
    fn from(error: SendError<T>) -> Self {
        match error {
            SendError::Closed(value) => SendTimeoutError::Closed(value),
            SendError::Disconnected(value) => SendTimeoutError::Disconnected(value),
        }
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendTimeoutError::Timeout(_) => "Timeout(..)",
            SendTimeoutError::Closed(_) => "Closed(..)",
            SendTimeoutError::Disconnected(_) => "Disconnected(..)",
        })
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendTimeoutError::Timeout(_) => "the value was not taken in time",
            SendTimeoutError::Closed(_) => CLOSED,
            SendTimeoutError::Disconnected(_) => NO_RECEIVERS,
        })
    }
}

impl<T> Error for SendTimeoutError<T> {}

/// Why there will be no more values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecvError {
    /// The channel was closed, and is drained.
    Closed,
    /// All senders are gone, and the channel is drained.
    Disconnected,
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RecvError::Closed => DRAINED,
            RecvError::Disconnected => NO_SENDERS,
        })
    }
}

impl Error for RecvError {}

/// Why no value was received at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is no value now, or all belong to receivers that were woken for them.
    Empty,
    /// The channel was closed, and is drained.
    Closed,
    /// All senders are gone, and the channel is drained.
    Disconnected,
}

impl From<RecvError> for TryRecvError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Closed => TryRecvError::Closed,
            RecvError::Disconnected => TryRecvError::Disconnected,
        }
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryRecvError::Empty => "the channel is empty",
            TryRecvError::Closed => DRAINED,
            TryRecvError::Disconnected => NO_SENDERS,
        })
    }
}

impl Error for TryRecvError {}

/// Why no value was received in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// Time was up first.
    Timeout,
    /// The channel was closed, and is drained.
    Closed,
    /// All senders are gone, and the channel is drained.
    Disconnected,
}

impl From<RecvError> for RecvTimeoutError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Closed => RecvTimeoutError::Closed,
            RecvError::Disconnected => RecvTimeoutError::Disconnected,
        }
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RecvTimeoutError::Timeout => "there was no value in time",
            RecvTimeoutError::Closed => DRAINED,
            RecvTimeoutError::Disconnected => NO_SENDERS,
        })
    }
}

impl Error for RecvTimeoutError {}
