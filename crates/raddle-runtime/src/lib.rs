//! Tasks, the work-stealing scheduler, timers and the blocking pool.
//!
//! This crate knows neither sockets nor the kernel's interfaces: a worker sleeps and looks for
//! completions through the two traits of [`park`], so the scheduler is tested without a kernel.
//! Most programs use it through the facade crate `raddle`.
//!
//! Where to start reading: `task` (one allocation and its state word), then `sched` (who runs
//! next), then `time`.

pub mod blocking;
mod histogram;
mod join_set;
#[doc(hidden)]
pub mod macros;
mod sched;
pub mod task;
mod task_local;
pub mod time;

pub use histogram::Histogram;
pub use join_set::JoinSet;
pub use raddle_base::wait::WaitKind;
pub use sched::ambient::{Builder, spawn, spawn_blocking, spawn_local, spawn_pinned};
pub use sched::config::{Config, PanicPolicy, StuckHook, ThreadHook, UnhandledPanic};
pub use sched::dump::{Dump, TaskDump, TaskState, Wait, WorkerDump};
pub use sched::metrics::{Metrics, WorkerMetrics};
pub use sched::park;
pub use sched::runtime::{DEFAULT_LIMIT, Enter, Handle, Runtime};
pub use sched::shutdown::{LeftTask, ShutdownReport};
pub use sched::size::MAX_WORKERS;
pub use sched::stand_in::block_in_place;
pub use sched::stuck::{Others, StuckTask};
pub use task_local::{AccessError, LocalKey, TaskLocalFuture};
