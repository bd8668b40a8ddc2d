//! The memory cases, run by the probe: bytes for each task, timer, connection.
//!
//! The value is what the allocator was asked for (`counting`), cold: nothing was warmed up but the
//! runtime itself, so that pooled memory counts. What has a stack of its own gets it from mmap,
//! past the allocator: there the value is resident memory. Both are among the figures, and so is
//! the number of allocations.

mod connection;
mod gate;
mod level;
mod task;
mod timer;

pub(crate) use connection::connection;
pub(crate) use level::Basis;
pub(crate) use task::{stacks as task_stacks, tasks as task_tasks};
pub(crate) use timer::{stacks as timer_stacks, tasks as timer_tasks};
