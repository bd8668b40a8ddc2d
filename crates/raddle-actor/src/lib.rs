//! Processes and actors: code that owns its state, has a mailbox and a name, and is told of the
//! ends of others.
//!
//! What a process is made of, from the bottom:
//!
//! | part | answers |
//! |---|---|
//! | [`Pid`] | what a process is called |
//! | [`ExitReason`] | why one ended |
//! | [`control`] | links, monitors, exit signals, joining: what processes are to each other |
//! | [`mailbox`] | where messages lie, and what happens when there is no room |
//! | [`Address`] | how a message gets there; [`Reply`] and [`Calling`], how an answer comes back |
//! | [`timers`] | messages that come later, or again and again |
//! | [`names`], [`groups`] | how processes find each other |
//!
//! All of these work in async tasks and on plain threads; none needs a stack of its own.

pub mod address;
pub mod call;
pub mod control;
pub mod exit;
pub mod groups;
pub mod mailbox;
pub mod names;
pub mod pid;
pub mod registry;
pub mod timers;

pub use address::{Address, WeakAddress};
pub use call::{CallError, CallFor, Calling, Reply};
pub use control::{Event, Joined, Life, MonitorRef, ProcessRef};
pub use exit::{ExitReason, Failure, PanicReport};
pub use mailbox::{Mailbox, Policy, SendError, Sending, TrySendError};
pub use names::{LookupError, NameError};
pub use pid::Pid;
pub use timers::TimerRef;

#[cfg(test)]
mod tests;
