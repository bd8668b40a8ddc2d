//! What is said of children: when they are started again, which of them, and how they are stopped.

use std::fmt;
use std::time::Duration;

use crate::exit::ExitReason;

/// When a child that ended is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Restart {
    /// Always.
    #[default]
    Permanent,
    /// If it did not end in order: neither normally nor by a shutdown.
    Transient,
    /// Never. It is forgotten when it has ended.
    Temporary,
}

impl Restart {
    pub(super) fn wants(self, reason: &ExitReason) -> bool {
        match self {
            Restart::Permanent => true,
            Restart::Transient => !reason.is_orderly(),
            Restart::Temporary => false,
        }
    }
}

impl fmt::Display for Restart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Restart::Permanent => "permanent",
            Restart::Transient => "transient",
            Restart::Temporary => "temporary",
        })
    }
}

/// How a child is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stop {
    /// It is asked, by an exit signal with [`ExitReason::Shutdown`], and killed if it has not ended
    /// after this time.
    After(Duration),
    /// It is asked, and waited for as long as it takes. The usual for supervisors.
    InPeace,
    /// It is killed at once.
    Kill,
}

/// Which children are started again when one of them has ended and is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Strategy {
    /// That one. Also for children that come and go at run time, see
    /// [`SupervisorRef::start_child`](super::SupervisorRef::start_child).
    #[default]
    OneForOne,
    /// All: the others are stopped first.
    OneForAll,
    /// That one and those that were started after it, which are stopped first.
    RestForOne,
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Strategy::OneForOne => "one-for-one",
            Strategy::OneForAll => "one-for-all",
            Strategy::RestForOne => "rest-for-one",
        })
    }
}
