//! What most programs name: `use raddle::prelude::*`.

pub use crate::sync::Wait;
pub use crate::task::{JoinError, JoinHandle};
pub use crate::time::{Instant, sleep, timeout};
pub use crate::{Runtime, spawn};
