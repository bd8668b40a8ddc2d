//! Deep calls on the resumer's stack: for what needs more stack than a fiber has.

use crate::control::{self, Control, ELSEWHERE, WATCHED};
use crate::foreign::Declared;
use crate::switch;
use crate::tools::sanitizer::{self, Side};
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

/// Calls `f` on the stack of whoever resumed this fiber, and comes back with what it returns.
///
/// The thread's own stack is usually much larger than a fiber's: name resolution, formatting of
/// large values, or a parser go well there. If the resumer is a fiber itself, `f` may call this
/// again. `f` cannot suspend this fiber. On a plain stack this only calls `f`.
///
/// # Panics
///
/// A panic of `f` goes on in the caller.
///
/// ```
/// use raddle_fiber::{Fiber, Stack, Step, on_parent_stack};
///
/// let mut fiber = Fiber::new(Stack::new().unwrap(), |_, ()| {
///     on_parent_stack(|| [0_u8; 400_000].len()) // more than the fiber's stack has
/// });
/// assert!(matches!(fiber.resume(()), Step::<(), _>::Finished(400_000)));
/// ```
pub fn on_parent_stack<R>(f: impl FnOnce() -> R) -> R {
    match control::current() {
        Some(control) => call(control, f),
        None => f(),
    }
}

/// What the two stacks share during the call.
struct Call<'c, F, R> {
    control: &'c Control,
    f: Option<F>,
    result: Option<Result<R, Box<dyn Any + Send>>>,
}

#[inline(never)]
fn call<F: FnOnce() -> R, R>(control: &Control, f: F) -> R {
    let mut call = Call { control, f: Some(f), result: None };
    control.set(ELSEWHERE);
    let parent = control.link.parent.get();
    // If the resumer is left in here, what lies under this call lies under it as well.
    // SAFETY: the resumer's frames are there.
    let above = unsafe { control::at(parent.addr()) }.filter(|_| control.foreign.get() > 0);
    let declared = above.map(Declared::new);
    if control.is(WATCHED) {
        let parent = control.parent_side.get();
        let saved = sanitizer::start_switch(parent.bottom, parent.size);
        control.fiber_side.set(Side { saved, ..control.fiber_side.get() });
    }
    // SAFETY: the resumer waits in its switch, and its frames end at `parent`: below it, its stack
    // is free until this fiber leaves, which the flag forbids. `there` catches panics.
    unsafe {
        switch::call_on((&raw mut call).cast(), parent.cast(), there::<F, R>);
    }
    if control.is(WATCHED) {
        sanitizer::finish_switch(control.fiber_side.get().saved);
    }
    control.clear(ELSEWHERE);
    drop(declared);
    match call.result {
        Some(Ok(value)) => value,
        Some(Err(payload)) => panic::resume_unwind(payload),
        None => unreachable!("the other stack was left without a result"),
    }
}

/// The other side.
///
/// # Safety
///
/// `call` is the address of a `Call` of these types that nobody else uses now.
unsafe extern "sysv64" fn there<F: FnOnce() -> R, R>(call: *mut ()) {
    // SAFETY: the caller waits, and gave its own variable.
    let call = unsafe { &mut *call.cast::<Call<'_, F, R>>() };
    let control = call.control;
    if control.is(WATCHED) {
        sanitizer::finish_switch(control.parent_side.get().saved);
    }
    if let Some(f) = call.f.take() {
        call.result = Some(panic::catch_unwind(AssertUnwindSafe(f)));
    }
    if control.is(WATCHED) {
        let saved = sanitizer::start_switch(control.bottom.cast(), control.size);
        control.parent_side.set(Side { saved, ..control.parent_side.get() });
    }
}
