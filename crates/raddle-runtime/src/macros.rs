//! `join!`, `try_join!` and `select!`: several futures awaited in one place, in one task.
//!
//! They are declarative macros, so that `$crate` finds its way here from whichever crate hands
//! them on. What they expand to is in the hidden [`support`] module: all that needs `unsafe` is
//! there, nothing of it is in the expansion.
//!
//! All three keep to the task's budget: with it spent they poll no further branch, and go on with
//! the one they had come to when the task is polled again. A large set of ready futures therefore
//! neither starves the task's siblings nor one of its own branches.

mod join;
mod select;
#[doc(hidden)]
pub mod support;
