//! The twin without hooks: nothing, but for shuttle, whose threads give way here now and then.

use crate::shim::hint;

/// A named point. Does nothing in this build.
#[inline(always)]
pub fn point(_name: &'static str) {
    hint::pass();
}
