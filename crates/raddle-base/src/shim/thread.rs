//! Threads of the memory model in use.

#[cfg(not(loom))]
pub use std::thread::{Builder, JoinHandle, spawn, yield_now};

#[cfg(loom)]
pub use loom::thread::{Builder, JoinHandle, spawn, yield_now};
