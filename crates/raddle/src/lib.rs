//! raddle: a Linux concurrency runtime with bounded service.
//!
//! Async tasks, timers, sockets and the primitives they share run on one work-stealing scheduler
//! that says how long ready I/O, timers and submissions from other threads can wait, whatever
//! the other tasks do.
//!
//! ```
//! let answer = raddle::run(async {
//!     let task = raddle::spawn(async { 6 * 7 });
//!     task.await.expect("the task neither panicked nor was aborted")
//! });
//! assert_eq!(answer, 42);
//! ```
//!
//! | what | where |
//! |---|---|
//! | run a program | [`run`], [`main`], [`Runtime::builder`], [`runtime`] |
//! | tasks | [`spawn`], [`spawn_pinned`], [`task`], [`join!`], [`select!`] |
//! | blocking code | [`spawn_blocking`], [`task::block_in_place`] |
//! | time | [`time`] |
//! | sockets, files, signals | [`net`], [`fs`], [`signal`] |
//! | primitives | [`sync`] |
//!
//! A user of tokio finds most names where they look for them. What differs: the calling thread of
//! [`run`] becomes a worker, and the runtime waits for at most a second at its end
//! ([`Runtime::run_with_limit`] tells what was left).

mod backend;
mod builder;
mod local;
mod park;

pub mod prelude;
pub mod runtime;
pub mod task;
pub mod time;

pub use backend::{Backend, Io, IoInfo};
pub use builder::{Builder, run};
pub use local::LocalRuntime;
pub use raddle_macros::{main, test};
pub use raddle_runtime::{
    Enter, Handle, LeftTask, Metrics, PanicPolicy, ShutdownReport, ThreadHook, UnhandledPanic,
    WorkerMetrics, join, select, spawn, spawn_blocking, spawn_local, spawn_pinned, try_join,
};
pub use runtime::Runtime;

/// Sockets, and the traits of input and output.
pub use raddle_net as net;
/// Files, and calls on paths.
pub use raddle_net::fs;
/// The traits of input and output, which are those of `futures-io`.
pub use raddle_net::io;
/// Signals of the process.
pub use raddle_net::signal;
/// Primitives that never allocate to wait and work on any runtime.
pub use raddle_sync as sync;
