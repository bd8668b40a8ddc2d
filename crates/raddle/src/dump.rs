//! What all tasks and workers of a runtime are at: for programs that do not go on.
//!
//! [`Runtime::dump`](crate::Runtime::dump) and [`Handle::dump`](crate::Handle::dump) tell of each
//! task whether it runs, is queued, or waits, for what, and where in the program, without polling
//! any. A thread that prints one on a signal, or whenever nothing has happened for a minute, makes
//! a hanging program explain itself.
//!
//! ```
//! use raddle::dump::{TaskState, WaitKind};
//! use raddle::sync::Semaphore;
//!
//! raddle::run(async {
//!     let permits = Semaphore::new(0);
//!     let task = raddle::task::Builder::new().name("stuck").spawn(async move {
//!         let _permit = permits.acquire().await;
//!     });
//!     raddle::task::yield_now().await;
//!     let dump = raddle::Handle::current().dump();
//!     println!("{dump}");
//!     let stuck = dump.tasks.iter().find(|task| task.name.as_deref() == Some("stuck")).unwrap();
//!     let TaskState::Waiting(wait) = stuck.state else { panic!("{stuck}") };
//!     assert_eq!(wait.kind, Some(WaitKind::Permits));
//!     assert!(wait.location.is_some(), "the line of `acquire`");
//!     task.abort();
//! });
//! ```

pub use raddle_runtime::blocking::BlockingMetrics;
pub use raddle_runtime::{Dump, TaskDump, TaskState, Wait, WaitKind, WorkerDump};
