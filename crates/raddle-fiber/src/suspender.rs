//! The fiber's own side: leaving for the resumer, and what stands against it.

use crate::control::{ABANDONED, Control, ELSEWHERE, FP_ENV, HELD, UNWINDING, WATCHED};
use crate::payload::{decode, encode};
use crate::switch::{self, FpEnv, Word};
use crate::tools::sanitizer::{self, Side};
use crate::unwind;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::process;
use std::ptr;
use std::thread;

/// What a fiber's closure leaves its stack with. `In` comes with a resume, `Out` goes with a
/// suspension.
///
/// It lives on the fiber's stack and cannot leave it: the closure gets a reference that is valid
/// while it runs.
#[repr(transparent)]
pub struct Suspender<In, Out> {
    control: Control,
    types: PhantomData<fn(Out) -> In>,
}

/// A suspension that did not happen, with the value it should have carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused<Out> {
    /// Why.
    pub reason: Reason,
    /// What was to be sent.
    pub value: Out,
}

/// Why a fiber may not suspend now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The thread is panicking: a destructor on the way of a panic wants to wait. Whose panic it is
    /// would be confused among fibers.
    Panicking,
    /// The fiber is being ended by force.
    Unwinding,
    /// The call comes from a function that runs on the resumer's stack.
    Elsewhere,
    /// The call comes from a scope that must end first: see [`held`](crate::held).
    Held,
    /// The fiber does not run: the call comes from outside it.
    NotRunning,
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Reason::Panicking => {
                "a fiber cannot suspend while its thread is panicking: do not wait in a destructor \
                 that may run during a panic, or ask `can_suspend` first"
            }
            Reason::Unwinding => "this fiber is being ended: it cannot wait any more",
            Reason::Elsewhere => {
                "a fiber cannot suspend in a function that runs on its resumer's stack"
            }
            Reason::Held => {
                "a fiber cannot suspend in code that another call on its stack waits for: in a \
                 future that it polls, for instance"
            }
            Reason::NotRunning => "a suspender was used outside its fiber",
        })
    }
}

impl<Out> fmt::Display for Refused<Out> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(out)
    }
}

impl<Out: fmt::Debug> std::error::Error for Refused<Out> {}

impl<In, Out> Suspender<In, Out> {
    /// The suspender is its control block.
    pub(crate) fn of(control: &Control) -> &Suspender<In, Out> {
        // SAFETY: transparent over the control block.
        unsafe { &*ptr::from_ref(control).cast() }
    }

    /// Leaves the fiber with a value, and comes back with the value of the next resume.
    ///
    /// Some twenty instructions; nothing is allocated, no lock is taken, no clock is read.
    ///
    /// # Panics
    ///
    /// While the thread is panicking, and in a function that runs on the resumer's stack: see
    /// [`Reason`]. The fiber's state is as before then. If the fiber is being ended by force, this
    /// raises the panic that ends it, now or when it would come back.
    #[inline]
    pub fn suspend(&self, out: Out) -> In {
        if self.control.is_plain() && !thread::panicking() {
            return self.suspend_at_once(out);
        }
        match self.obstacle() {
            None => self.suspend_with_care(out),
            Some(reason) => self.object(reason),
        }
    }

    /// As [`suspend`](Suspender::suspend), but says why if it may not.
    ///
    /// # Errors
    ///
    /// [`Refused`], with the value, for the reasons of [`Reason`]. A kill that arrives while the
    /// fiber is suspended still raises.
    #[inline]
    pub fn try_suspend(&self, out: Out) -> Result<In, Refused<Out>> {
        if self.control.is_plain() && !thread::panicking() {
            return Ok(self.suspend_at_once(out));
        }
        match self.obstacle() {
            None => Ok(self.suspend_with_care(out)),
            Some(reason) => Err(Refused { reason, value: out }),
        }
    }

    /// Would a suspension be refused now? Destructors ask this before they wait.
    ///
    /// # Errors
    ///
    /// The reason why it would.
    pub fn can_suspend(&self) -> Result<(), Reason> {
        self.obstacle().map_or(Ok(()), Err)
    }

    /// Does the caller run on this fiber's own stack, and not on that of a fiber it resumed, or of
    /// its resumer?
    #[inline]
    pub fn is_own_stack(&self) -> bool {
        let bottom = self.control.bottom.addr();
        switch::stack_pointer().wrapping_sub(bottom) < self.control.size
    }

    /// Is the fiber being ended by force?
    pub fn is_unwinding(&self) -> bool {
        self.control.is(UNWINDING)
    }

    #[cold]
    #[inline(never)]
    fn obstacle(&self) -> Option<Reason> {
        let control = &self.control;
        if !control.frame().is_null() {
            return Some(Reason::NotRunning);
        }
        if control.is(ELSEWHERE) {
            return Some(Reason::Elsewhere);
        }
        if control.is(HELD) {
            return Some(Reason::Held);
        }
        if control.is(UNWINDING | ABANDONED) {
            return Some(Reason::Unwinding);
        }
        thread::panicking().then_some(Reason::Panicking)
    }

    /// The plain case: nothing is special before the switch, nor, unless the fiber is being ended,
    /// after it.
    #[inline(always)]
    fn suspend_at_once(&self, out: Out) -> In {
        let mut out = ManuallyDrop::new(out);
        // SAFETY: `own` is null, so the caller runs on this stack or above it; `out` stays in
        // place until the resumer has copied it.
        let (word, link) = unsafe { switch::leave(&raw const self.control.link, encode(&mut out)) };
        // SAFETY: `leave` gives back the link it got; the control block begins with it.
        let control = unsafe { &*link.cast::<Control>() };
        if control.is_special() {
            raise_or_give_up(control);
        }
        // SAFETY: the resumer sent a value of this type; an unwinder, which sends none, set a flag.
        unsafe { decode(word) }
    }

    /// A suspension of a fiber with its own control words, or under a sanitizer.
    #[inline(never)]
    fn suspend_with_care(&self, out: Out) -> In {
        let (control, mut out) = (&self.control, ManuallyDrop::new(out));
        depart(control);
        // SAFETY: the fiber runs, see `obstacle`; `out` stays in place as in the plain case.
        let (word, _) = unsafe { switch::leave(&raw const control.link, encode(&mut out)) };
        arrive(control);
        if control.is(UNWINDING) {
            raise_or_give_up(control);
        }
        // SAFETY: as in the plain case.
        unsafe { decode(word) }
    }

    /// In a destructor on the way of the kill a second panic would abort; saying why is all that
    /// can be done. Elsewhere the kill goes on.
    #[cold]
    #[inline(never)]
    fn object(&self, reason: Reason) -> ! {
        if reason == Reason::Unwinding && !thread::panicking() {
            raise_or_give_up(&self.control);
        }
        panic!("{reason}")
    }
}

/// The fiber's side before it goes: puts the resumer's control words in force, and tells the
/// sanitizer.
fn depart(control: &Control) {
    if control.is(FP_ENV) {
        exchange_fp(control);
    }
    if control.is(WATCHED) {
        let parent = control.parent_side.get();
        let saved = sanitizer::start_switch(parent.bottom, parent.size);
        control.fiber_side.set(Side { saved, ..control.fiber_side.get() });
    }
}

/// The fiber's side before it goes for good, and its going.
///
/// # Safety
///
/// As for [`switch::finish`].
pub(crate) unsafe fn depart_for_good(control: &Control) -> ! {
    if control.is(FP_ENV) {
        exchange_fp(control);
    }
    let link = &raw const control.link;
    match sanitizer::start() {
        Some(start) if control.is(WATCHED) => {
            let parent = control.parent_side.get();
            // SAFETY: passed on to the caller; the sanitizer gets the resumer's stack.
            unsafe { switch::finish_watched(link, start, parent.bottom, parent.size) }
        }
        // SAFETY: passed on to the caller.
        _ => unsafe { switch::finish(link) },
    }
}

/// The fiber's side after it has come, at the start too.
pub(crate) fn arrive(control: &Control) {
    if control.is(WATCHED) {
        let (bottom, size) = sanitizer::finish_switch(control.fiber_side.get().saved);
        let parent = control.parent_side.get();
        control.parent_side.set(Side { bottom, size, ..parent });
    }
    if control.is(FP_ENV) {
        exchange_fp(control);
    }
}

/// Puts the other side's control words in force and keeps those that were.
fn exchange_fp(control: &Control) {
    let other = control.fp.replace(FpEnv::current());
    other.load();
}

/// Raises the kill, or, if it was swallowed too often, leaves for good.
#[cold]
#[inline(never)]
fn raise_or_give_up(control: &Control) -> ! {
    let raised = control.raised.get() + 1;
    control.raised.set(raised);
    if raised <= unwind::RAISES {
        unwind::raise();
    }
    control.set(ABANDONED);
    depart(control);
    // SAFETY: the fiber runs; nobody resumes an abandoned fiber.
    unsafe { switch::leave(&raw const control.link, Word::uninit()) };
    // Nobody enters the frame of an abandoned fiber.
    process::abort()
}
