//! A reference to a process, from which it can be asked, ended and waited for.

use std::fmt;
use std::sync::Arc;

use super::core::Control;
use super::join::Joined;
use super::signal::Signal;
use super::word::{DONE, EXITING};
use crate::exit::ExitReason;
use crate::pid::Pid;

/// A reference to one incarnation of a process. Cheap to clone; does not keep the process going,
/// only what is left of it: its pid and its exit reason.
#[derive(Clone)]
pub struct ProcessRef {
    pub(crate) control: Arc<Control>,
}

impl ProcessRef {
    pub(crate) fn new(control: Arc<Control>) -> Self {
        ProcessRef { control }
    }

    /// The name of the process.
    #[inline]
    pub fn pid(&self) -> Pid {
        self.control.pid
    }

    /// A name it is registered under now, the first if there are several.
    pub fn name(&self) -> Option<Arc<str>> {
        self.control.lock().extras_if_any().and_then(|extras| extras.names.first().cloned())
    }

    /// False from the moment its exit reason is fixed. A process may end right after this says
    /// true.
    pub fn is_alive(&self) -> bool {
        !self.control.word().has(EXITING)
    }

    /// Why it ended, if it has and all who are concerned were told.
    pub fn exit_reason(&self) -> Option<ExitReason> {
        if self.control.word().has(DONE) { self.control.lock().reason.clone() } else { None }
    }

    /// Sends an exit signal, as from nobody: a process that traps exits receives it as an event,
    /// one that does not ends with `reason`, unless that is [`ExitReason::Normal`], which does
    /// nothing. To a process that has ended nothing happens.
    pub fn exit(&self, reason: ExitReason) {
        self.control.deliver(Signal::Exit { from: None, reason, linked: false });
    }

    /// As [`exit`](Self::exit), in the name of a process.
    pub fn exit_from(&self, from: Pid, reason: ExitReason) {
        self.control.deliver(Signal::Exit { from: Some(from), reason, linked: false });
    }

    /// Ends the process with [`ExitReason::Killed`], whether it traps exits or not, at its next
    /// suspension.
    pub fn kill(&self) {
        self.control.deliver(Signal::Kill);
    }

    /// Waits for the end of the process: until its links and monitors were told and its names are
    /// free.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    #[track_caller]
    pub fn join(&self) -> Joined {
        Joined::new(Arc::clone(&self.control))
    }
}

impl PartialEq for ProcessRef {
    fn eq(&self, other: &Self) -> bool {
        self.pid() == other.pid()
    }
}

impl Eq for ProcessRef {}

impl fmt::Debug for ProcessRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessRef")
            .field("pid", &self.pid())
            .field("alive", &self.is_alive())
            .finish()
    }
}
