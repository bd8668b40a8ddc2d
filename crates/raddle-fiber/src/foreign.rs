//! Frames of foreign code on a fiber's stack: declared, so that nobody tries to unwind them.

use crate::control::{self, Control};
use std::ptr;

/// Declares that what `f` calls may suspend under frames of foreign code: C functions that call
/// back, for instance. A forced unwind cannot pass such frames; a fiber that is ended while it is
/// suspended in here is abandoned: its stack is kept for ever, with all that lies on it.
///
/// Elsewhere than on a fiber this only calls `f`.
///
/// ```
/// use raddle_fiber::{Fiber, Stack, Step, Unwound, foreign};
///
/// let mut fiber = Fiber::new(Stack::new().unwrap(), |s, ()| {
///     foreign(|| {
///         // Imagine `qsort` here, with a comparison that suspends.
///         s.suspend(());
///     })
/// });
/// assert!(matches!(fiber.resume(()), Step::Suspended(())));
/// assert!(matches!(fiber.unwind(), Unwound::Abandoned));
/// ```
pub fn foreign<R>(f: impl FnOnce() -> R) -> R {
    let Some(control) = control::current() else { return f() };
    let _declared = Declared::new(control);
    f()
}

/// Whether there are foreign frames between where a suspended fiber was left, which may be in a
/// fiber that it resumed, and its base.
pub(crate) fn is_under(suspended: &Control) -> bool {
    let mut address = suspended.frame().addr();
    // SAFETY: code was left there, and in each resumer of a fiber that runs.
    while let Some(control) = unsafe { control::at(address) } {
        if control.foreign.get() > 0 {
            return true;
        }
        if ptr::eq(control, suspended) {
            return false;
        }
        address = control.link.parent.get().addr();
    }
    // It was left on a stack that is no fiber's: nothing is known of that.
    true
}

/// As long as it lives, there are foreign frames.
pub(crate) struct Declared<'c>(&'c Control);

impl<'c> Declared<'c> {
    pub(crate) fn new(control: &'c Control) -> Declared<'c> {
        control.foreign.set(control.foreign.get() + 1);
        Declared(control)
    }
}

impl Drop for Declared<'_> {
    fn drop(&mut self) {
        self.0.foreign.set(self.0.foreign.get() - 1);
    }
}
