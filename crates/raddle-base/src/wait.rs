//! Waiting without allocation: one queue of waiters for all primitives, and a cell for one waiter.
//!
//! What does a primitive need in order to let a task wait? A place for its waker that costs no
//! allocation, a way to find the next one to serve, and a way out for a wait that is given up.
//! The scheduler, the driver, timers and every primitive of `raddle-sync` take these from here.
//!
//! * [`WaitQueue`] holds any number of waiters, first come first served. A waiter is a
//!   [`Waiter`]: a node that lies in the waiting future itself, pinned. The queue's small lock
//!   guards the links; the *state word of the primitive* stands in front of it, so that an
//!   operation that need not wait takes no lock.
//! * [`WaiterCell`] holds the waker of at most one waiter, without a lock: for receivers with a
//!   single consumer, join handles and operations of a driver.
//! * [`WakeBatch`] collects wakers under a lock and calls them outside of it.
//! * [`WaitKind`] and [`WaitSite`] say what is waited for and where, for dumps.
//!
//! Rules that hold for every user, because code we do not know runs inside a waker: wakers are
//! cloned, called and dropped outside of every internal lock; a waker that panics strands nobody;
//! a wait that was given up is gone from the queue at once.
//!
//! Where to start reading: `queue.rs` for the five headings, then `waiter.rs` for who may touch
//! which field of a node.

mod batch;
mod cell;
mod contain;
mod links;
mod queue;
mod site;
mod state;
mod waiter;

pub use batch::WakeBatch;
pub use cell::WaiterCell;
pub use queue::{Locked, Removed, WaitQueue};
pub use site::{WaitKind, WaitSite};
pub use state::Phase;
pub use waiter::{Waiter, Wake};

#[cfg(test)]
mod tests;
