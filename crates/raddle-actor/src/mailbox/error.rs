//! What can go wrong with a mailbox. Errors of senders give the message back.

use std::error::Error;
use std::fmt;

/// Why a message was not accepted. Holds the message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendError<M> {
    /// There is no room, and the mailbox does not let its senders wait, or this one asked not to.
    Full(M),
    /// The mailbox is closed: the process has ended for good.
    Closed(M),
}

/// The error of a send that does not wait: the same.
pub type TrySendError<M> = SendError<M>;

impl<M> SendError<M> {
    /// The message.
    pub fn into_inner(self) -> M {
        match self {
            SendError::Full(message) | SendError::Closed(message) => message,
        }
    }

    /// True if the mailbox is closed: it will accept nothing any more.
    pub fn is_closed(&self) -> bool {
        matches!(self, SendError::Closed(_))
    }
}

impl<M> fmt::Debug for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendError::Full(_) => "Full(..)",
            SendError::Closed(_) => "Closed(..)",
        })
    }
}

impl<M> fmt::Display for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendError::Full(_) => "the mailbox is full",
            SendError::Closed(_) => "the mailbox is closed",
        })
    }
}

impl<M> Error for SendError<M> {}

/// Why there was no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// None has come yet.
    Empty,
    /// None will come: the mailbox is closed, or nobody has an address of it.
    Disconnected,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryRecvError::Empty => "the mailbox is empty",
            TryRecvError::Disconnected => "the mailbox is closed, or has no address",
        })
    }
}

impl Error for TryRecvError {}
