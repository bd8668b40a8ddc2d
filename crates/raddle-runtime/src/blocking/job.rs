//! A job on its way: a closure that is run once, or dropped with a reason.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_base::context::{self, Place};

use crate::blocking::error::Refusal;

/// What a pool queues.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

raddle_base::local! {
    static REASON: Cell<Option<Refusal>> = const { Cell::new(None) };
}

/// Runs a job; its panic is caught and dropped.
pub(crate) fn run(job: Job) {
    // Entered for each job: whoever runs inside may have left another mark on the thread.
    let _place = context::enter(Place::Blocking);
    contain(job);
}

/// Drops a job that is not to run. Its destructor finds `refusal` by [`reason`].
pub(crate) fn refuse(job: Job, refusal: Refusal) {
    let before = REASON.replace(Some(refusal));
    contain(move || drop(job));
    REASON.set(before);
}

/// Why the job whose destructor runs on this thread was refused, if it was.
pub(crate) fn reason() -> Option<Refusal> {
    REASON.get()
}

/// Calls foreign code and drops its panic, which the panic hook has reported.
pub(crate) fn contain(f: impl FnOnce()) {
    let Err(payload) = catch_unwind(AssertUnwindSafe(f)) else { return };
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // The destructor of a payload panicked: its own payload is not given another chance.
        std::mem::forget(second);
    }
}
