//! Tasks: handles, identities, yielding, values of their own, and code that blocks.

pub use raddle_runtime::blocking::{Refusal, Reservation, SubmitError};
pub use raddle_runtime::task::{
    AbortHandle, Id, JoinError, JoinHandle, Unconstrained, YieldNow, consume_budget, id, try_id,
    unconstrained, yield_now,
};
pub use raddle_runtime::{
    Builder, JoinSet, LocalKey, block_in_place, spawn, spawn_blocking, spawn_local, spawn_pinned,
};

/// Values that belong to a task: names beside [`LocalKey`], where users of tokio look for them.
pub mod futures {
    pub use raddle_runtime::TaskLocalFuture;
}

/// The error of [`LocalKey::try_with`].
pub use raddle_runtime::AccessError;
