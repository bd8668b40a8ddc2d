//! Events: something happened, and whoever waits for it may go on.
//!
//! Two kinds. A [`ManualResetEvent`] is a gate: set, it lets everybody pass until it is reset. An
//! [`AutoResetEvent`] is a turnstile: each set lets one pass. Both are faces of the core in
//! `event/core.rs`, where states, protocol and proof are; `event/wait.rs` has the futures.

mod auto;
mod core;
mod manual;
mod wait;

pub use auto::AutoResetEvent;
pub use manual::ManualResetEvent;
pub use wait::{Event, EventSlot, EventWait};

#[cfg(all(test, loom))]
#[path = "tests/event_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/event.rs"]
mod tests;
