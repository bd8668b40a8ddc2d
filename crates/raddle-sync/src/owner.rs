//! Who holds which lock, in builds with debug assertions: so that a wait for oneself is reported.
//!
//! Question: a task that waits for a lock which it holds itself, or that takes a second shared
//! lock behind a writer that waits for its first, never goes on. Who tells? In debug builds each
//! lock taken is noted in a table of fixed size, with the task (or thread) that took it and the
//! place. A wait for a lock looks the waiter up in it, and prints who holds the lock since where.
//! It is a report and not a panic, because another part of the same task may hold the lock and
//! release it. Other builds have a twin that does nothing and takes no space.
//!
//! Tasks are told apart by the runtime's ids; without one (a foreign runtime) nothing is reported,
//! and on a plain thread that blocks, the thread counts.

#[cfg(debug_assertions)]
mod enabled;
#[cfg(debug_assertions)]
pub(crate) use enabled::{acquired, released, waits};

#[cfg(not(debug_assertions))]
mod disabled;
#[cfg(not(debug_assertions))]
pub(crate) use disabled::{acquired, released, waits};

#[cfg(all(test, debug_assertions, not(loom)))]
pub(crate) use enabled::last_report;
