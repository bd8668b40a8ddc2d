//! A pool of objects that are costly to make and can be used again.
//!
//! # Question
//!
//! At most so many objects may be out at a time, an idle one is preferred to a new one, and making
//! or checking one may wait, fail and be dropped. How is no place in the pool lost on any way out?
//!
//! # Protocol
//!
//! A semaphore holds a permit for each object that may be out. *Get*: take a permit; take an idle
//! object, or make one. *Return*: put the object among the idle ones, then give the permit back. So
//! whoever gets that permit finds that object, and the objects, idle and out, are never more than
//! the permits: one is made only by a holder of a permit who found nobody idle.
//!
//! While an object is checked it lies in a guard (`pool/checkout.rs`), which puts it back or lets
//! it go when the check is dropped; the permit lies in a guard of its own until the object is out.

mod checkout;
mod core;
mod futures;
mod handle;
mod manage;

pub use checkout::Pooled;
pub use futures::{Get, ReplenishTo};
pub use handle::{Pool, PoolStatus};
pub use manage::{
    AfterCancel, IdleOrder, ManageObject, NeverManageObject, ObjectStatus, PoolConfig,
};

#[cfg(all(test, not(loom)))]
#[path = "tests/pool.rs"]
mod tests;
