//! Threads of the memory model in use.

#[cfg(not(any(loom, shuttle)))]
pub use std::thread::{Builder, JoinHandle, spawn, yield_now};

#[cfg(loom)]
pub use loom::thread::{Builder, JoinHandle, spawn, yield_now};

#[cfg(shuttle)]
pub use crate::shim::world::threads::{Builder, JoinHandle, spawn, yield_now};

/// The threads of a runtime, which no loom model starts: std's, or shuttle's.
pub mod system {
    #[cfg(not(shuttle))]
    pub use std::thread::{Builder, JoinHandle, current};

    #[cfg(shuttle)]
    pub use crate::shim::world::threads::{Builder, JoinHandle, current};
}
