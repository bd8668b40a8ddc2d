//! Tasks: handles, identities, yielding, and code that blocks.

pub use raddle_runtime::blocking::{Refusal, Reservation, SubmitError};
pub use raddle_runtime::task::{
    AbortHandle, Id, JoinError, JoinHandle, YieldNow, id, try_id, yield_now,
};
pub use raddle_runtime::{
    Builder, JoinSet, block_in_place, spawn, spawn_blocking, spawn_local, spawn_pinned,
};
