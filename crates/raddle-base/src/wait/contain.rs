//! What becomes of a panic of foreign code where there is one under way already.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops what a second panic carries. Its destructor may panic as well, and no further.
pub(super) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(another);
    }
}
