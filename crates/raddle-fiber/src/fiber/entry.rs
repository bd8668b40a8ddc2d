//! The first function on a fiber's stack, and the last: runs the closure, catches its panics, and
//! leaves the result where the resumer finds it.

use crate::control::{Control, DONE, UNWINDING};
use crate::payload::decode;
use crate::suspender::{Suspender, arrive, depart_for_good};
use crate::switch::{Link, Word};
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

/// What becomes of a fiber's function. It lies where the closure lay before, and not in a frame,
/// since frames may be the sanitizer's and go with the fiber.
pub(super) enum Outcome<Ret> {
    Finished(Ret),
    Panicked(Box<dyn Any + Send>),
    /// The fiber was ended before its first resume.
    NotRun,
}

/// See the header. Never returns and never unwinds.
///
/// # Safety
///
/// Called once, by the trampoline of a fiber that was made with the same types.
pub(super) unsafe extern "sysv64" fn entry<F, In, Out, Ret>(
    word: Word,
    link: *const Link,
    place: *mut (),
) -> !
where
    F: FnOnce(&Suspender<In, Out>, In) -> Ret,
{
    // SAFETY: the control block begins with the link, and outlives the fiber.
    let control = unsafe { &*link.cast::<Control>() };
    arrive(control);
    // SAFETY: the builder wrote the closure there; it is read once.
    let f = unsafe { place.cast::<F>().read() };
    let run = || {
        if control.is(UNWINDING) {
            drop(f);
            return Outcome::NotRun;
        }
        // SAFETY: this is the first resume, which sent an `In`.
        Outcome::Finished(f(Suspender::of(control), unsafe { decode(word) }))
    };
    let outcome = panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(Outcome::Panicked);
    // SAFETY: the place is large enough for both, and the closure is no longer there.
    unsafe { place.cast::<Outcome<Ret>>().write(outcome) };
    control.set(DONE);
    // SAFETY: on the fiber's own stack; all that is left in this frame are plain addresses.
    unsafe { depart_for_good(control) }
}
