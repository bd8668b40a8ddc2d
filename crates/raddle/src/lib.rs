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
//! | blocking-style code on stacks of its own | `actor` (on x86-64) |
//! | what goes on | [`metrics`], [`dump`] |
//!
//! # For users of tokio
//!
//! Most names are where tokio has them. What differs:
//!
//! * `#[tokio::main(worker_threads = 2)]` is [`#[raddle::main(workers = 2)]`](main).
//! * `Builder::new_multi_thread()` is [`Builder::new`]; `worker_threads` and `thread_name` are
//!   [`workers`](Builder::workers) and [`name`](Builder::name); I/O and time are always there.
//! * `Builder::new_current_thread()` with a `LocalSet` is [`LocalRuntime`] with [`spawn_local`], or
//!   [`spawn_pinned`] on any runtime.
//! * Dropping a `JoinHandle` detaches the task, as there; a handle that is not used at all is a
//!   warning, and [`detach`](task::JoinHandle::detach) says that it is meant.
//! * `read`, `read_exact`, `read_to_end`, `write_all` and so on are methods of streams, by `&self`,
//!   and of [`fs::File`]; there is no `AsyncReadExt`. `BufReader`, `BufWriter`, `lines`, `copy` and
//!   `copy_bidirectional` are in [`io`]; what is missing there (`split` of any stream, `take`,
//!   `chain`) is in the crates `futures-lite` and `futures`: the traits in [`io`] are theirs.
//! * `shutdown` of a stream or of its writing half does not wait, so it is not awaited.
//! * `Handle::try_current` and `try_lock` of a lock give an option: there is one reason only.
//! * `tokio::pin!(sleep)` is `let mut sleep = std::pin::pin!(sleep)`.
//! * What `tokio_util` has is in [`sync`]: `CancellationToken`, `TaskTracker`.
//! * Where tokio has `blocking_recv` and the like, [`sync::Wait`] lets a plain thread wait for any
//!   future: `task.wait()`.
//! * I/O outside a runtime is an error where tokio panics; spawning and timers panic here too.
//!
//! The calling thread of [`run`] becomes a worker, and the runtime waits for at most a second at
//! its end ([`Runtime::run_with_limit`] tells what was left).
//!
//! A server that reads lines:
//!
//! ```
//! use raddle::io::BufReader;
//! # raddle::run(async {
//! # let (client, stream) = raddle::net::UnixStream::pair()?;
//! # client.write_all(b"one\ntwo\n").await?;
//! # drop(client);
//! let (read, write) = stream.into_split();
//! let mut lines = BufReader::new(read).lines();
//! # let mut seen = Vec::new();
//! while let Some(line) = lines.next_line().await? {
//! #   seen.push(line.clone());
//!     write.write_all(line.as_bytes()).await.ok();
//! }
//! # assert_eq!(seen, ["one", "two"]);
//! # std::io::Result::Ok(())
//! # })?;
//! # std::io::Result::Ok(())
//! ```

#[cfg(target_arch = "x86_64")]
pub mod actor;
mod backend;
mod builder;
mod local;
mod park;

pub mod dump;
pub mod metrics;
pub mod prelude;
pub mod runtime;
pub mod task;
pub mod time;

pub use backend::{Backend, Io, IoInfo};
pub use builder::{Builder, run};
pub use local::LocalRuntime;
pub use raddle_macros::{main, test};
pub use raddle_runtime::{
    Enter, Handle, LeftTask, Metrics, Others, PanicPolicy, ShutdownReport, StuckTask, ThreadHook,
    UnhandledPanic, WorkerMetrics, join, select, spawn, spawn_blocking, spawn_local, spawn_pinned,
    task_local, try_join,
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
