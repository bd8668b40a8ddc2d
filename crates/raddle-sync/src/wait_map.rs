//! A wait map: waiters with a key, and wakes that bring a value to one key.
//!
//! # Question
//!
//! Many wait, each for the answer to one request, and whoever brings an answer knows the request's
//! number only. How does the answer reach the one waiter, without a map of channels that is
//! allocated request by request?
//!
//! # Protocol
//!
//! Waiters lie in 16 queues by the hash of their key; key and place for the value are in the
//! waiter's node. *Wait*: lock, look whether the map is closed, push. *Wake*: lock, find the first
//! node with that key, put the value into it, grant it. *Close*: queue by queue, set its flag and
//! release all in one critical section, so that none is pushed after.
//!
//! # Race
//!
//! A wake comes before the waiter is queued: it finds nobody and hands the value back. Who must not
//! miss an answer joins the queue (`enable`) before sending the request.
//!
//! A waiter that was given a value is dropped before it saw it: the value goes to the next with the
//! same key, else it is dropped.
//!
//! # Proof
//!
//! Node, flag and value are accessed under the queue's lock, until the grant hands node and value
//! to their owner with release. Models: `model_wait_map_wake_against_wait`,
//! `model_wait_map_wake_against_cancel`.

mod call;
mod map;

pub use crate::hasher::DefaultBuildHasher;
pub use call::{OwnedWaitMapWait, WaitMapClosed, WaitMapWait};
pub use map::WaitMap;

#[cfg(all(test, loom))]
#[path = "tests/wait_map_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/wait_map.rs"]
mod tests;
