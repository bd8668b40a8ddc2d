//! Ending a fiber by force: what is raised on its stack, how often, and who recognises it.
//!
//! The kill of a fiber is a panic with a payload of its own, raised without the panic hook at the
//! place where the fiber is suspended, and caught at the fiber's root. Destructors run as for any
//! panic. Code that catches everything may catch it, but each later suspension raises it again,
//! and the fiber counts as killed whatever it returns. A fiber that has swallowed it a thousand
//! times is left where it is: it never runs again, and its stack is never used again.

use std::any::Any;
use std::panic;

/// How often a kill is raised in one fiber before it is abandoned.
pub(crate) const RAISES: u32 = 1000;

/// The payload of a kill.
struct ForcedUnwind;

/// Is this panic payload the kill of a fiber?
///
/// For code that catches all panics and wants to pass on those which are none:
///
/// ```
/// use raddle_fiber::is_forced_unwind;
/// use std::panic;
///
/// fn guarded(work: impl FnOnce() + panic::UnwindSafe) {
///     if let Err(payload) = panic::catch_unwind(work) {
///         if is_forced_unwind(&*payload) {
///             panic::resume_unwind(payload); // this fiber is being ended
///         }
///         eprintln!("the work panicked");
///     }
/// }
/// # guarded(|| ());
/// ```
pub fn is_forced_unwind(payload: &(dyn Any + Send)) -> bool {
    payload.is::<ForcedUnwind>()
}

/// Raises the kill. The payload has no size, so nothing is allocated for it.
#[cold]
pub(crate) fn raise() -> ! {
    panic::resume_unwind(Box::new(ForcedUnwind))
}
