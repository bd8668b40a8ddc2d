//! What makes a task a process: a pid, an end with a reason, links, monitors, and signals.
//!
//! One `Control` belongs to one incarnation of a process, from its start to its end. The process
//! itself holds its [`Life`]; everybody else holds [`ProcessRef`]s. Nothing here knows what a
//! message is.
//!
//! # Question
//!
//! Two processes that are linked end at the same time, a third one links itself to a process that
//! is just ending, a fourth takes its link back, and a process goes to sleep while a signal is on
//! its way to it. How does each learn of each end that concerns it, exactly once?
//!
//! # States
//!
//! The word of a control, all of it written under its lock but `DONE`:
//!
//! | bit | meaning |
//! |---|---|
//! | `TRAP` | exit signals become events |
//! | `DOOMED` | an exit signal arrived that ends the process when it looks |
//! | `KILLED` | the exit signal is a kill, which disturbs an end in peace too |
//! | `EVENTS` | there are events to be received |
//! | `WATCHED` | the waker of the process' task is here |
//! | `EXITING` | the reason is fixed; no link, monitor or signal is accepted any more |
//! | `DONE` | everybody was told; joiners go on |
//!
//! # Protocol
//!
//! *Deliver*: lock; if exiting, drop the signal; else decide what it is to this process (trapped
//! or not) and put it there, set the bit, take the waker; unlock; wake. *Look*: one load of the
//! word, and the lock where a bit says there is something. *Go to sleep*: lock; if nothing is
//! there, leave the waker. *Link*, *unlink*, *monitor*, *demonitor*: lock both controls, that of
//! the lesser pid first, and change both sides in one step; if the other one is exiting, the
//! signal `NoProcess` is delivered in that same step instead. *Finish*: lock, fix the reason, set
//! `EXITING` and take everything out; unlock; then, with no lock held between them, for each
//! link lock the peer, and only if the peer still has the link take it out and deliver the exit;
//! for monitors the same; in the end set `DONE` and release the joiners.
//!
//! # Race
//!
//! *Link against finish*: both want the lock of the one that ends. If the link is first, finish
//! finds it, and the peer has it as well. If finish is first, link sees `EXITING`. *Unlink against
//! finish*: the peer's own entry decides, under the peer's lock: who takes it out, unlink or
//! finish, has the say. *Link again while the end is being told*: the peer's old entry may still be
//! there when it unlinks and links again, but the one that ends is exiting then, so that no second
//! entry appears. *Both ends at once*: each has taken its own entries away, so neither finds one.
//! *Delivery against sleep*: both under the lock.
//!
//! # Proof
//!
//! Invariant: while neither is exiting, A has an entry for B exactly if B has one for A, because
//! both are changed in one step. An entry is removed from a live process once, with its lock held,
//! by unlink, by its own end or by the end of its peer, and only the last delivers a signal; and an
//! end reaches each of its peers. So there is one signal for each link that is cut by an end, and
//! none after unlink. No deadlock: at most two of these locks are held, in the order of pids, and
//! no other lock is taken under them. Foreign code (wakers, errors and payloads inside reasons)
//! runs and is dropped outside of them. Models: `model_link_against_finish`,
//! `model_both_linked_finish`, `model_unlink_against_finish`, `model_monitor_against_finish`,
//! `model_signal_against_sleep`, `model_join_against_finish`.

mod core;
mod join;
mod life;
mod links;
mod monitors;
mod process;
mod signal;
mod word;

pub(crate) use self::core::Control;
pub use join::Joined;
pub use life::Life;
pub use process::ProcessRef;
pub use signal::{Event, MonitorRef};

#[cfg(all(test, loom))]
#[path = "tests/control_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/control.rs"]
mod tests;
