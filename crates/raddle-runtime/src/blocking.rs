//! Threads for calls that block: a pool that grows with its work and shrinks without it.
//!
//! The pool knows nothing of tasks: jobs are closures, handles are futures that any executor can
//! poll. What a job may do that a task may not: block. It runs with
//! [`Place::Blocking`](raddle_base::context::Place::Blocking), and a panic goes to its handle.
//!
//! | file | answers |
//! |---|---|
//! | `blocking/state.rs` | what follows from each event; the books, pure |
//! | `blocking/shared.rs` | how threads start, sleep, wait for each other and end |
//! | `blocking/job.rs` | how a closure is run once or never, and who learns of it |
//! | `blocking/pool.rs`, `blocking/handle.rs` | what users see |

mod config;
mod error;
mod handle;
mod job;
mod pool;
mod shared;
mod state;

#[cfg(test)]
mod tests;

pub use config::{Config, Hook};
pub use error::{JobError, Refusal, SubmitError};
pub use handle::BlockingHandle;
pub use pool::{BlockingMetrics, BlockingPool};
