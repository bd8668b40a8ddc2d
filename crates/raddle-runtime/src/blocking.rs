//! Threads for calls that block: a pool that grows with its work and shrinks without it.
//!
//! The pool knows nothing of tasks: jobs are closures. What a job may do that a task may not:
//! block. It runs with [`Place::Blocking`](raddle_base::context::Place::Blocking).
//! [`spawn_blocking`](crate::spawn_blocking) makes jobs that have a handle.
//!
//! | file | answers |
//! |---|---|
//! | `blocking/state.rs` | what follows from each event; the books, pure |
//! | `blocking/shared.rs` | how threads start, sleep, wait for each other and end |
//! | `blocking/job.rs` | how a closure is run, or dropped with a reason |
//! | `blocking/pool.rs` | what users see |

mod config;
pub(crate) mod error;
pub(crate) mod job;
mod pool;
pub(crate) mod shared;
mod state;

#[cfg(test)]
mod tests;

pub use config::{Config, Hook};
pub use error::{Refusal, SubmitError};
pub use pool::{BlockingMetrics, BlockingPool};
pub use shared::Reservation;
