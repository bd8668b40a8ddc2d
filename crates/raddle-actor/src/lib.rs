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
//! All of these work in async tasks and on plain threads; none needs a stack of its own. On them
//! stand the two forms of a process:
//!
//! | form | what it is |
//! |---|---|
//! | [`spawn`], [`Builder::spawn`] | free-form code with a stack: it waits like a thread |
//! | [`Actor`], [`Builder::spawn_actor`] | state and handlers, with a stack only while one runs |
//!
//! [`supervisor`]s start them, and start them again when they fail.
//!
//! On a process' stack every future is waited for in blocking style, by
//! [`.wait()`](raddle_sync::Wait): the process is parked, and its thread does other work. What lies
//! on a stack never leaves its thread, so it may be anything.

mod actor;
pub mod address;
mod berth;
pub mod call;
pub mod control;
mod cx;
pub mod exit;
pub mod groups;
mod here;
mod home;
pub mod mailbox;
pub mod names;
pub mod pid;
mod preempt;
mod process;
pub mod registry;
mod seat;
mod slice;
mod spawn;
mod stay;
pub mod supervisor;
pub mod timers;

pub use actor::Actor;
pub use address::{Address, WeakAddress};
pub use call::{CallError, CallFor, Calling, Reply};
pub use control::{Event, Joined, Life, MonitorRef, ProcessRef};
pub use cx::{Cx, Disconnected, Incoming, ReceiveTimeoutError};
pub use exit::{ExitReason, Failure, PanicReport};
pub use here::{blocking, check, current, exit, sleep, yield_now};
pub use mailbox::{Mailbox, Policy, SendError, Sending, TrySendError};
pub use names::{LookupError, NameError};
pub use pid::Pid;
pub use preempt::{PreemptAlloc, preemptible};
pub use process::{Joining, Process};
pub use raddle_fiber::{StackError, foreign, on_parent_stack};
pub use spawn::{Builder, spawn};
pub use timers::TimerRef;

#[cfg(test)]
mod tests;
