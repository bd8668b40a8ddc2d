//! A stack overflow becomes a report that names the fiber, and then an abort.
//!
//! # How
//!
//! A fault in a guard raises SIGSEGV. The handler runs on an alternate stack, since the faulting
//! one is used up; each thread that makes fibers gets one, with a guard of its own. The handler
//! decides by addresses: the fault lies in the guard of the very stack that the thread runs on.
//! The signal's code does not tell (guards by advice give `SEGV_MAPERR`, guards by protection
//! `SEGV_ACCERR`). Everything else is passed to the handler that was there before, which is that of
//! std as a rule, so that other faults end as usual.
//!
//! The handler is installed with the first fiber of the process, the alternate stack with the first
//! of each thread; it replaces that of std, which is smaller. Whoever installs a handler of their
//! own later decides what happens.

mod altstack;
mod handler;
mod report;

use std::cell::Cell;

thread_local! {
    static PREPARED: Cell<bool> = const { Cell::new(false) };
}

/// Makes this thread ready for a report. Costs a load once that is done.
#[inline]
pub(crate) fn prepare() {
    if !PREPARED.get() {
        first();
    }
}

#[cold]
fn first() {
    PREPARED.set(true);
    handler::install();
    altstack::install();
}
