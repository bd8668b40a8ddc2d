//! What a processor must give, so that a stack can be left and come back to.
//!
//! One file a processor has the instructions; everything else in this crate is written against the
//! functions named here. On other processors the crate refuses to compile, so that nobody finds
//! out at run time.
//!
//! | operation | who calls it | what it does |
//! |---|---|---|
//! | [`prepare`] | a new fiber | writes the frame from which the first `enter` starts |
//! | [`enter`] | the resumer | saves itself in [`Link::parent`], goes on in the fiber |
//! | [`leave`] | the fiber | saves itself in [`Link::own`], goes on in the resumer |
//! | [`finish`] | the fiber's last act | goes on in the resumer, for good |
//! | [`call_on`] | `on_parent_stack` | calls a function on another stack and comes back |
//!
//! One word travels with each switch, in a register.

#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{
    FpEnv, Frame, Link, call_on, enter, finish, finish_watched, leave, prepare,
    shadow_stack_status, stack_pointer, valgrind_request,
};

#[cfg(not(target_arch = "x86_64"))]
compile_error!("raddle-fiber switches stacks on x86-64 only: leave it out on other processors");

use std::mem::MaybeUninit;

/// What travels in a register: a value of at most eight bytes, or the address of a larger one.
pub(crate) type Word = MaybeUninit<*mut ()>;

/// Do panics unwind in this build? Where they abort, a fiber cannot be ended by force.
pub(crate) const UNWINDS: bool = cfg!(panic = "unwind");
