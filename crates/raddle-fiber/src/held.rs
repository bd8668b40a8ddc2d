//! Scopes that end before their stack is left.

use crate::control::{self, Control, HELD};

/// Runs `f`, in which the fiber on whose stack this is called cannot suspend
/// ([`Reason::Held`](crate::Reason::Held)). Fibers that `f` resumes can.
///
/// For code that hands a callback something which is valid until the callback returns: what a poll
/// of a future is given, say. If the callback could suspend the fiber and be resumed elsewhere, it
/// would come back to what is gone. Whoever keeps a scope open on the thread (a mark in a
/// thread-local, taken back at the end) uses this as well.
///
/// Elsewhere than on a fiber this only calls `f`.
///
/// ```
/// use raddle_fiber::{Fiber, Reason, Stack, Step, held};
///
/// let mut fiber = Fiber::<(), (), _>::new(Stack::new().unwrap(), |s, ()| {
///     held(|| s.try_suspend(()).unwrap_err().reason)
/// });
/// assert!(matches!(fiber.resume(()), Step::Finished(Reason::Held)));
/// ```
pub fn held<R>(f: impl FnOnce() -> R) -> R {
    let Some(control) = control::current().filter(|control| !control.is(HELD)) else {
        return f();
    };
    control.set(HELD);
    let _release = Release(control);
    f()
}

struct Release<'c>(&'c Control);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.clear(HELD);
    }
}
