//! A fiber: a function on a stack of its own that can be left half-way and come back to.
//!
//! The state machine and its proof stand in the header of the control block's file. This file has
//! the resumer's side: making, resuming, ending.

mod entry;

use crate::control::{ABANDONED, Control, DONE, FP_ENV, UNWINDING, WATCHED};
use crate::foreign;
use crate::name::Name;
use crate::overflow;
use crate::payload::{decode, encode};
use crate::stack::Stack;
use crate::suspender::Suspender;
use crate::switch::{self, Word};
use crate::tools::sanitizer::{self, Side};
use crate::unwind::is_forced_unwind;
use entry::Outcome;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::ptr::{self, NonNull};

/// A function on a stack of its own. See the [crate's page](crate) for what it can do.
///
/// A fiber belongs to the thread that made it: it is neither `Send` nor `Sync`, because what lies
/// on its stack may be neither. It is resumed with an `In`, leaves with an `Out`, and ends with a
/// `Ret`.
///
/// Dropping it ends it by force; see [`unwind`](Fiber::unwind). Forgetting it leaks its stack and
/// what lies there.
pub struct Fiber<In = (), Out = (), Ret = ()> {
    control: NonNull<Control>,
    /// `None` once the fiber was abandoned.
    stack: Option<Stack>,
    types: PhantomData<fn(In) -> (Out, Ret)>,
    /// Neither `Send` nor `Sync`.
    home: PhantomData<*mut ()>,
}

/// How a resume ended.
#[derive(Debug)]
pub enum Step<Out, Ret> {
    /// The fiber suspended with this value and waits to be resumed.
    Suspended(Out),
    /// The fiber's function returned.
    Finished(Ret),
    /// The fiber's function panicked. The panic was caught on the fiber's own stack; the panic hook
    /// has reported it.
    Panicked(Box<dyn Any + Send>),
}

/// How an end by force went.
#[derive(Debug)]
pub enum Unwound {
    /// The stack is unwound; or the function had not started, and was dropped. Also if its code
    /// caught the kill and returned.
    Killed,
    /// The stack is unwound, but by another panic, which was raised in place of the kill.
    Panicked(Box<dyn Any + Send>),
    /// The stack could not be unwound and is kept for ever with what lies on it: there are frames
    /// of foreign code on it, or the kill was swallowed too often, or panics abort in this build.
    Abandoned,
    /// The fiber had ended before.
    Done,
}

/// Settings of a fiber; see [`Fiber::builder`].
#[derive(Clone, Debug, Default)]
pub struct Builder {
    fp_env: bool,
    name: Name,
    id: u64,
}

impl Builder {
    /// Gives the fiber its own control words of the floating-point units (rounding, precision,
    /// masks). It starts with the defaults; what it sets is in force only while it runs. This costs
    /// some 4 ns a switch. Without it the control words belong to the thread, as everything else
    /// does that is not on the stack.
    pub fn own_fp_env(mut self) -> Self {
        self.fp_env = true;
        self
    }

    /// The name in the report of a stack overflow.
    pub fn name(mut self, name: impl Into<Name>) -> Self {
        self.name = name.into();
        self
    }

    /// A number for the report of a stack overflow.
    pub fn id(mut self, id: u64) -> Self {
        self.id = id;
        self
    }

    /// Makes the fiber; see [`Fiber::new`].
    ///
    /// # Panics
    ///
    /// If the closure, or the result, does not fit into half the stack.
    pub fn build<F, In, Out, Ret>(self, stack: Stack, f: F) -> Fiber<In, Out, Ret>
    where
        F: FnOnce(&Suspender<In, Out>, In) -> Ret + 'static,
        In: 'static,
        Out: 'static,
        Ret: 'static,
    {
        overflow::prepare();
        let mut flags = if self.fp_env { FP_ENV } else { 0 };
        if sanitizer::at_work() {
            flags |= WATCHED;
        }
        let (place, below) = layout::<F, Ret>(&stack);
        let mut control = Control::new(flags, place.as_ptr().cast(), stack.bottom(), stack.size());
        (control.name, control.id) = (self.name, self.id);
        // SAFETY: the stack is owned and nobody runs on it. `layout` keeps the three parts apart
        // and aligned: the control block below the top, the place, and what is below it.
        let at = unsafe {
            let at = stack.top().sub(size_of::<Control>()).cast::<Control>();
            at.write(control);
            place.cast::<F>().write(f);
            let entry = entry::entry::<F, In, Out, Ret>;
            let link = &raw const at.as_ref().link;
            let frame = switch::prepare(below.as_ptr(), link, place.as_ptr().cast(), entry);
            at.as_ref().set_frame(frame);
            at
        };
        Fiber { control: at, stack: Some(stack), types: PhantomData, home: PhantomData }
    }
}

/// Where closure and result lie, and the 16-aligned place below which the stack begins.
fn layout<F, Ret>(stack: &Stack) -> (NonNull<u8>, NonNull<u8>) {
    let size = size_of::<F>().max(size_of::<Outcome<Ret>>());
    let align = align_of::<F>().max(align_of::<Outcome<Ret>>()).max(16);
    let room = stack.size() / 2;
    assert!(size + align < room, "the closure or the result of a fiber does not fit on its stack");
    let end = stack.top().addr().get() - size_of::<Control>();
    let start = (end - size) / align * align;
    // SAFETY: at most half the stack below its top.
    let place = unsafe { stack.top().sub(stack.top().addr().get() - start) };
    (place, place)
}

impl<In: 'static, Out: 'static, Ret: 'static> Fiber<In, Out, Ret> {
    /// Puts a function on a stack. It runs when the fiber is resumed; the first resume's value is
    /// its second argument.
    ///
    /// Nothing is allocated: the function and all else lie on the stack.
    ///
    /// # Panics
    ///
    /// If the closure, or the result, does not fit into half the stack.
    pub fn new<F>(stack: Stack, f: F) -> Fiber<In, Out, Ret>
    where
        F: FnOnce(&Suspender<In, Out>, In) -> Ret + 'static,
    {
        Builder::default().build(stack, f)
    }

    /// Goes on in the fiber until it suspends or ends.
    ///
    /// Some twenty instructions; nothing is allocated, no lock is taken, no clock is read.
    ///
    /// # Panics
    ///
    /// If the fiber has ended, or runs: in release builds as well. A panic of the fiber's code is
    /// no panic here but a [`Step::Panicked`].
    #[inline]
    pub fn resume(&mut self, input: In) -> Step<Out, Ret> {
        let control = self.control();
        let frame = control.link.own.get();
        if frame.is_null() {
            return self.resume_with_care(input);
        }
        control.link.own.set(ptr::null_mut());
        let mut input = ManuallyDrop::new(input);
        // SAFETY: the frame was found in `own`, which is null from here until the fiber leaves
        // again; the fiber belongs to this thread; `input` stays in place until it was copied.
        let (word, link) =
            unsafe { switch::enter(&raw const control.link, frame, encode(&mut input)) };
        // SAFETY: `enter` gives back the link it got; the control block begins with it.
        let control = unsafe { &*link.cast::<Control>() };
        if control.link.own.get().is_null() {
            return self.ended();
        }
        // SAFETY: the fiber suspended, which sends a value of this type.
        Step::Suspended(unsafe { decode(word) })
    }

    /// Has the fiber ended, in whatever way?
    pub fn is_done(&self) -> bool {
        self.control().is(DONE | ABANDONED)
    }

    /// Ends the fiber by force, now: raises a panic where it is suspended, without the panic hook,
    /// and goes on in it until its stack is unwound to the base. Its destructors run. A function
    /// that has not started is dropped.
    ///
    /// The kill cannot be swallowed: where code catches it, the next suspension raises it again.
    /// Locks of `std` that are held are poisoned, as by any panic. A destructor that suspends
    /// although the fiber is being ended panics, which aborts the process unless the destructor
    /// catches it; destructors that may wait ask [`Suspender::can_suspend`] or use
    /// [`Suspender::try_suspend`].
    ///
    /// Where that is impossible the fiber is abandoned instead: see [`Unwound::Abandoned`].
    pub fn unwind(&mut self) -> Unwound {
        match self.end() {
            End::Abandoned => Unwound::Abandoned,
            End::Already => Unwound::Done,
            End::Now => match self.take_outcome() {
                Outcome::Panicked(payload) if !is_forced_unwind(&*payload) => {
                    Unwound::Panicked(payload)
                }
                _ => Unwound::Killed,
            },
        }
    }

    /// Gives the stack back for another use, after ending the fiber if it has not ended. `None` if
    /// it had to be abandoned.
    pub fn into_stack(mut self) -> Option<Stack> {
        self.unwind();
        let stack = self.stack.take()?;
        // SAFETY: the fiber has ended, so nobody else uses its control block any more; `drop`
        // leaves it alone, because there is no stack.
        unsafe { self.control.drop_in_place() };
        Some(stack)
    }

    /// A fiber under a sanitizer; or one that cannot be resumed.
    #[cold]
    #[inline(never)]
    fn resume_with_care(&mut self, input: In) -> Step<Out, Ret> {
        let control = self.control();
        assert!(!control.is(DONE | ABANDONED), "a fiber was resumed after its end");
        assert!(!control.frame().is_null(), "a fiber was resumed while it runs");
        let mut input = ManuallyDrop::new(input);
        // SAFETY: there is a frame; `input` stays in place until it was copied.
        let word = unsafe { enter_with_care(control, encode(&mut input)) };
        if control.frame().is_null() {
            return self.ended();
        }
        // SAFETY: as in `resume`.
        Step::Suspended(unsafe { decode(word) })
    }

    #[inline(never)]
    fn ended(&mut self) -> Step<Out, Ret> {
        match self.take_outcome() {
            Outcome::Finished(value) => Step::Finished(value),
            Outcome::Panicked(payload) => Step::Panicked(payload),
            Outcome::NotRun => unreachable!("only an unwind ends a fiber before its start"),
        }
    }

    /// The result, which the fiber wrote just now, once.
    fn take_outcome(&self) -> Outcome<Ret> {
        let control = self.control();
        assert!(control.is(DONE), "a fiber went without a result");
        // SAFETY: the entry function wrote it before it set the flag, and this is called once,
        // after the switch that follows.
        unsafe { control.place.cast::<Outcome<Ret>>().read() }
    }
}

/// What became of an attempt to end a fiber.
enum End {
    Already,
    Abandoned,
    /// It has ended, and its outcome is in its place.
    Now,
}

impl<In, Out, Ret> Fiber<In, Out, Ret> {
    /// Settings, for a fiber with a name or with its own floating-point control.
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn control<'c>(&self) -> &'c Control {
        // SAFETY: the control block is written before there is a fiber, and stays as long as the
        // stack: until `into_stack` or `drop`, which use the reference no more after that.
        unsafe { self.control.as_ref() }
    }

    fn end(&mut self) -> End {
        let control = self.control();
        if control.is(ABANDONED) {
            return End::Abandoned;
        }
        if control.is(DONE) {
            return End::Already;
        }
        assert!(!control.frame().is_null(), "a fiber was ended while it runs");
        control.set(UNWINDING);
        if !switch::UNWINDS || foreign::is_under(control) {
            control.set(ABANDONED);
        } else {
            // SAFETY: there is a frame. Nobody decodes the word: the flag is looked at first.
            unsafe { enter_with_care(control, Word::uninit()) };
        }
        if control.is(DONE) {
            return End::Now;
        }
        control.set_frame(ptr::null_mut());
        if let Some(stack) = self.stack.take() {
            stack.abandon();
        }
        End::Abandoned
    }
}

/// Enters the fiber, and tells the sanitizer if there is one.
///
/// # Safety
///
/// The fiber has a frame. The word was encoded for it, or a flag says that there is none.
unsafe fn enter_with_care(control: &Control, word: Word) -> Word {
    let frame = control.frame();
    control.set_frame(ptr::null_mut());
    if control.is(WATCHED) {
        let saved = sanitizer::start_switch(control.bottom.cast(), control.size);
        control.parent_side.set(Side { saved, ..control.parent_side.get() });
    }
    // SAFETY: the caller vouches for the frame and the word.
    let (word, _) = unsafe { switch::enter(&raw const control.link, frame, word) };
    if control.is(WATCHED) {
        sanitizer::finish_switch(control.parent_side.get().saved);
        control.watched_own.set(control.link.own.replace(ptr::null_mut()));
    }
    word
}

impl<In, Out, Ret> Drop for Fiber<In, Out, Ret> {
    fn drop(&mut self) {
        if self.stack.is_none() {
            return;
        }
        if self.control().is_running() {
            // Whoever resumed it does not come back, or is on its stack: it is kept as it is.
            if let Some(stack) = self.stack.take() {
                stack.abandon();
            }
            return;
        }
        if let End::Now = self.end() {
            // SAFETY: as in `take_outcome`.
            let outcome = unsafe { self.control().place.cast::<Outcome<Ret>>().read() };
            mem::drop(outcome);
        }
        if self.stack.is_some() {
            // SAFETY: the fiber has ended, so nobody else uses its control block any more.
            unsafe { self.control.drop_in_place() };
        }
    }
}

impl<In, Out, Ret> fmt::Debug for Fiber<In, Out, Ret> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let control = self.control();
        out.debug_struct("Fiber")
            .field("name", &control.name)
            .field("id", &control.id)
            .field("done", &control.is(DONE | ABANDONED))
            .field("stack", &self.stack)
            .finish()
    }
}

#[cfg(test)]
mod tests;
