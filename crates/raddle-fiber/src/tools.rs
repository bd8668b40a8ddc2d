//! Tools that must be told about stacks: sanitizers and valgrind.
//!
//! Whether one is at work is found out at run time, because a stable compiler does not say. The
//! price without them is a few instructions for a stack that is taken or given back; switches pay
//! nothing, since a watched fiber takes the slow path that other exceptions use too.

pub(crate) mod sanitizer;
pub(crate) mod valgrind;
