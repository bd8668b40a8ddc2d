//! Who holds which lock, in builds with debug assertions: so that a wait for oneself is reported.
//!
//! Question: a task that waits for a lock which it holds itself, that takes a second shared lock
//! behind a writer that waits for its first, that upgrades beside another guard of its own, or that
//! waits for a value it is making itself, never goes on. Who tells? In debug builds each lock taken
//! (and each lead of a `Once`) is noted in a table of fixed size, with the task (or thread) that
//! took it and the place; the note goes with the guard, whoever drops it. A wait looks the waiter
//! up in it, and prints who it is, what it waits for where, and since where it has that itself;
//! once for each place that waits.
//!
//! It is a report and not a panic, because it is never certain: another part of the same task may
//! have the guard and let go, or another task to which it was sent. So the report says who *took*
//! the lock. Other builds have a twin that does nothing and takes no space.
//!
//! Tasks are told apart by the runtime's ids; without one (a foreign runtime) nothing is reported,
//! and on a plain thread that blocks, the thread counts.

#[cfg(debug_assertions)]
mod enabled;
#[cfg(debug_assertions)]
pub(crate) use enabled::{Held, waits};

#[cfg(not(debug_assertions))]
mod disabled;
#[cfg(not(debug_assertions))]
pub(crate) use disabled::{Held, waits};

#[cfg(all(test, debug_assertions, not(loom)))]
pub(crate) use enabled::{Report, last_report};
#[cfg(all(test, debug_assertions, not(loom)))]
#[path = "tests/owner.rs"]
mod tests;
