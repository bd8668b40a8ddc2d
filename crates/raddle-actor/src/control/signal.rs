//! What one process can tell another outside of its mailbox, and what becomes of it there.

use std::fmt;

use crate::exit::ExitReason;
use crate::pid::Pid;

/// Names one monitor: made by [`Life::monitor`](super::Life::monitor), and never twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonitorRef {
    watcher: Pid,
    number: u32,
}

impl MonitorRef {
    pub(crate) fn new(watcher: Pid, number: u32) -> Self {
        MonitorRef { watcher, number }
    }
}

impl fmt::Display for MonitorRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.watcher, self.number)
    }
}

/// What a process receives beside its messages, in the order of arrival.
///
/// Events have a lane of their own: no bound and no policy of a mailbox touches them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// An exit signal, which this process traps.
    Exit {
        /// Who ended, or who sent the signal; `None` if that was no process.
        pid: Option<Pid>,
        /// Why it ended, or with which reason this process is asked to end.
        reason: ExitReason,
        /// True if it came through a link, false if somebody sent it.
        linked: bool,
    },
    /// The end of a process that was monitored. There is no second one for the same monitor.
    Down {
        /// Which monitor.
        monitor: MonitorRef,
        /// The process that ended.
        pid: Pid,
        /// Why it ended; [`ExitReason::NoProcess`] if it had ended before the monitor was made.
        reason: ExitReason,
    },
}

/// On its way to a process.
#[derive(Debug)]
pub(crate) enum Signal {
    Exit { from: Option<Pid>, reason: ExitReason, linked: bool },
    Kill,
    Down { monitor: MonitorRef, pid: Pid, reason: ExitReason },
}

/// An exit signal that was not trapped: the process ends by it when it looks.
#[derive(Debug)]
pub(crate) struct Doom {
    pub(crate) reason: ExitReason,
    /// The peer, if it came through a link: to be taken back by an unlink.
    pub(crate) link: Option<Pid>,
}
