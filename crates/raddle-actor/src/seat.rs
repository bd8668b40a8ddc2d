//! A function on a stack of its own, run within the polls of a task.
//!
//! # Question
//!
//! A process is a task whose future goes to a stack and comes back. How does code on that stack
//! wait for any future, how is it told to end, and what keeps the stack on its thread?
//!
//! # States
//!
//! | state | where | next |
//! |---|---|---|
//! | empty | [`Seat`] without a call | [`begin`](Call::begin) takes a stack |
//! | running | on the stack, inside a poll | `Away` by a wait, `Over` by the end of the function |
//! | away | suspended; the task is settled | the next poll resumes or ends it |
//! | over | the stack is given back | the task may be released |
//!
//! # Protocol
//!
//! *Wait*: the code polls its future with the waker of the task, which [`Seat`] lends for the
//! length of one poll, and leaves the stack while it is pending. The task's poll then returns
//! `Pending`, so whoever wakes the future wakes the task. *End by force*: the poll asks the seat's
//! owner for a reason to end, before it resumes and after the code has left; if there is one, the
//! stack is unwound in place of being resumed. Code that wants to end by itself leaves its reason
//! in the seat and suspends. *Shield*: while code on the stack must not be unwound (the kernel or
//! another thread uses memory of this stack), the end waits until the shield is lifted.
//!
//! Code that has the process' context at hand can be where the stack must not be left although it
//! is the process': in the poll of a future, or in a blocking section of its thread. So what is
//! called by the context ([`wait`](Seat::wait), [`exit`](Seat::exit)) asks where it is first. And
//! while a future is polled, fibers of the code's own, on which that may happen, are
//! [held](raddle_fiber::held).
//!
//! # Proof
//!
//! The stack is left only by a suspension or its end, both of which return to the poll that
//! resumed it, on the same thread. After a suspension the task settles before the poll returns, so
//! the next poll, and the drop, happen on this thread. The lent waker is set anew before each
//! resume and read only by code that runs, so it is that of the poll in progress.

use std::any::Any;
use std::cell::Cell;
use std::pin::pin;
use std::ptr;
use std::task::{Context, Poll, Waker};
use std::thread;

use raddle_base::clock::Instant;
use raddle_base::context::{self, Blocker, Place};
use raddle_base::parker;
use raddle_fiber::{Fiber, Reason, Stack, Step, Suspender, Unwound, held};
use raddle_runtime::time;
use raddle_runtime::{block_in_place, task};

use crate::exit::ExitReason;
use crate::pid::Pid;
use crate::slice::Slice;

/// What the code on a stack and the poll that runs it share. Pinned with the task.
pub(crate) struct Seat {
    pid: Pid,
    /// The waker of the poll in progress.
    waker: Cell<*const Waker>,
    /// Of the function that is on the stack.
    suspender: Cell<*const Suspender<(), ()>>,
    /// The code on the stack wants to end.
    leaves: Cell<bool>,
    /// Why.
    reason: Cell<Option<ExitReason>>,
    /// How many scopes ask not to be unwound now.
    shields: Cell<u32>,
    slice: Slice,
}

/// A function that has begun on a stack.
pub(crate) struct Call<R: 'static> {
    fiber: Fiber<(), (), R>,
}

/// How far a call came.
pub(crate) enum Ran<R> {
    /// It waits.
    Away,
    /// It returned or panicked.
    Over(Result<R, Box<dyn Any + Send>>),
}

/// How an end by force went.
pub(crate) enum Ended {
    /// The stack is empty.
    Unwound,
    /// It is, but by a panic in place of the kill.
    Panicked(Box<dyn Any + Send>),
    /// The stack stays for ever as it is, and whatever its code borrowed is lent for ever: other
    /// threads may use it, as in a scope that never ended.
    Abandoned,
}

impl Seat {
    pub(crate) fn new(pid: Pid) -> Self {
        Seat {
            pid,
            waker: Cell::new(ptr::null()),
            suspender: Cell::new(ptr::null()),
            leaves: Cell::new(false),
            reason: Cell::new(None),
            shields: Cell::new(0),
            slice: Slice::new(),
        }
    }

    /// The process' name.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// How long it has computed, if it is to be preempted.
    #[inline]
    pub(crate) fn slice(&self) -> &Slice {
        &self.slice
    }

    /// Whether the code on the stack wants to end.
    #[inline]
    pub(crate) fn leaves(&self) -> bool {
        self.leaves.get()
    }

    /// The reason that the code on the stack gave for its end, once.
    pub(crate) fn take_reason(&self) -> Option<ExitReason> {
        self.leaves.set(false);
        self.reason.take()
    }

    /// Whether the stack may not be unwound now.
    #[inline]
    pub(crate) fn is_shielded(&self) -> bool {
        self.shields.get() != 0
    }

    fn suspender(&self) -> &Suspender<(), ()> {
        // SAFETY: set by the call whose function runs right now (its first act), and lent by the
        // fiber until that function ends.
        unsafe { &*self.suspender.get() }
    }

    /// Runs `f`, as async code, with the waker of the poll in progress. It cannot wait in turn: the
    /// waker would be an old one when it came back.
    #[inline]
    fn with_context<R>(&self, f: impl FnOnce(&mut Context<'_>) -> R) -> R {
        // SAFETY: set by `resume` for as long as it runs, and this runs inside of it, for `f` does
        // not leave the stack: code that asks how to is told that it is in an async poll.
        let waker = unsafe { &*self.waker.get() };
        let poll = || context::polling(|| f(&mut Context::from_waker(waker)));
        // A fiber of the code's own could be left here, and come back when the poll is over.
        if self.suspender().is_own_stack() { poll() } else { held(poll) }
    }

    /// Leaves the stack until the task is polled again; false if that is not possible now, because
    /// the thread is unwinding or the code runs on another stack.
    #[inline]
    fn leave(&self) -> bool {
        match self.suspender().try_suspend(()) {
            Ok(()) => true,
            Err(refused) => self.cannot_leave(refused.reason),
        }
    }

    /// False; but code that caught the panic which ends it, and waits again, meets it again.
    #[cold]
    fn cannot_leave(&self, reason: Reason) -> bool {
        if reason == Reason::Unwinding && !thread::panicking() {
            self.suspender().suspend(());
        }
        false
    }

    /// Gives the other tasks of the worker a turn.
    #[inline]
    pub(crate) fn yield_now(&self) {
        // The code on this stack runs in a poll of its own task, and nobody else's.
        context::yield_own();
        self.leave();
    }

    /// Ends the function that is on the stack, by unwinding.
    ///
    /// # Panics
    ///
    /// Where the stack cannot be left: in a destructor while the thread unwinds already.
    pub(crate) fn exit(&self, reason: ExitReason) -> ! {
        if context::place() == Place::Actor {
            self.reason.set(Some(reason));
            self.leaves.set(true);
            // The poll sees the reason and unwinds this stack: the suspension does not return.
            self.leave();
            // Refused: what comes next on this stack ends as it does.
            drop(self.take_reason());
        }
        panic!("a process cannot exit while it unwinds, nor from another stack than its own")
    }

    /// Runs `f` while the stack may not be unwound.
    pub(crate) fn shielded<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Lift<'a>(&'a Cell<u32>);
        impl Drop for Lift<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() - 1);
            }
        }
        self.shields.set(self.shields.get() + 1);
        let _lift = Lift(&self.shields);
        f()
    }

    /// Waits as code may that has the process' context, wherever it is: in a blocking section it is
    /// the thread that waits.
    ///
    /// # Panics
    ///
    /// In async code.
    pub(crate) fn wait(
        &self,
        deadline: Instant,
        step: &mut dyn FnMut(&mut Context<'_>) -> Poll<()>,
    ) -> bool {
        match context::place() {
            Place::Actor => self.block_on(deadline, step),
            Place::Task => panic!(
                "a process was to wait in async code, which must not block: wait outside of the \
                 future, on the process' stack"
            ),
            Place::Thread | Place::Blocking => block_until(deadline, step, block_thread),
        }
    }

    fn block_for_ever(&self, step: &mut dyn FnMut(&mut Context<'_>) -> Poll<()>) {
        while self.with_context(&mut *step).is_pending() {
            if !self.leave() {
                return block_thread(step);
            }
        }
    }
}

impl Blocker for Seat {
    fn block_on(
        &self,
        deadline: Instant,
        step: &mut dyn FnMut(&mut Context<'_>) -> Poll<()>,
    ) -> bool {
        block_until(deadline, step, |step| self.block_for_ever(step))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Blocks by `block` until the step is ready, or the deadline has passed: false then.
fn block_until(
    deadline: Instant,
    step: &mut dyn FnMut(&mut Context<'_>) -> Poll<()>,
    block: impl FnOnce(&mut dyn FnMut(&mut Context<'_>) -> Poll<()>),
) -> bool {
    if deadline.is_far_future() {
        block(step);
        return true;
    }
    let mut timer = pin!(time::sleep_until(deadline));
    let mut ready = false;
    block(&mut |cx| {
        ready = step(cx).is_ready();
        if ready {
            return Poll::Ready(());
        }
        timer.as_mut().poll(cx)
    });
    ready
}

/// The wait of a destructor while its stack unwinds: the stack cannot be left, so the thread waits,
/// and hands its other work over for that time.
#[cold]
fn block_thread(step: &mut dyn FnMut(&mut Context<'_>) -> Poll<()>) {
    let block = || {
        parker::with_current(|parker| {
            let waker = parker::waker(parker);
            let mut cx = Context::from_waker(&waker);
            while step(&mut cx).is_pending() {
                parker.park();
            }
        });
    };
    // The section must not be left half-way.
    held(|| block_in_place(block));
}

impl<R: 'static> Call<R> {
    /// Puts `f` on the stack. It begins when it is [resumed](Self::resume).
    ///
    /// # Safety
    ///
    /// Until the call is over or dropped, `seat` stays valid where it is, and whatever `f` points
    /// at does.
    pub(crate) unsafe fn begin(
        seat: *const Seat,
        stack: Stack,
        builder: raddle_fiber::Builder,
        f: impl FnOnce() -> R + 'static,
    ) -> Self {
        let fiber = builder.build(stack, move |suspender: &Suspender<(), ()>, ()| {
            // SAFETY: as promised.
            unsafe { &*seat }.suspender.set(suspender);
            f()
        });
        Call { fiber }
    }

    /// Goes to the stack until it is left.
    ///
    /// # Safety
    ///
    /// `seat` is that of [`begin`](Self::begin).
    #[inline]
    pub(crate) unsafe fn resume(&mut self, seat: *const Seat, waker: &Waker) -> Ran<R> {
        // SAFETY: valid as promised.
        unsafe { &*seat }.waker.set(waker);
        // SAFETY: the seat outlives the call, so code on its stack.
        let _entered = unsafe { context::enter_actor(seat) };
        match self.fiber.resume(()) {
            Step::Suspended(()) => Ran::Away,
            Step::Finished(value) => Ran::Over(Ok(value)),
            Step::Panicked(payload) => Ran::Over(Err(payload)),
        }
    }

    /// Ends the function by force: its destructors run.
    ///
    /// # Safety
    ///
    /// As for [`resume`](Self::resume).
    pub(crate) unsafe fn unwind(&mut self, seat: *const Seat, waker: &Waker) -> Ended {
        // SAFETY: valid as promised.
        unsafe { &*seat }.waker.set(waker);
        // SAFETY: as in `resume`.
        let _entered = unsafe { context::enter_actor(seat) };
        match self.fiber.unwind() {
            Unwound::Panicked(payload) => Ended::Panicked(payload),
            Unwound::Abandoned => Ended::Abandoned,
            Unwound::Killed | Unwound::Done => Ended::Unwound,
        }
    }
}

/// Drops what belonged to a process, and may wait in its destructors, where there is no stack for
/// that: then it is the thread that waits, and a runtime that sees it stuck works around it. A
/// blocking section would hand the worker's duties over before anybody knew whether that is needed.
pub(crate) fn drop_without_stack<T>(value: T) {
    let _place = context::enter(Place::Blocking);
    drop(value);
}

/// Settles the task that is being polled.
pub(crate) fn settle() {
    assert!(task::settle(), "a process is polled by the worker that runs its task");
}

/// Runs `f` with the seat of the process on whose stack this is.
pub(crate) fn with_current<R>(f: impl FnOnce(Option<&Seat>) -> R) -> R {
    context::with_blocker(|blocker| {
        f(blocker.and_then(|blocker| blocker.as_any().downcast_ref::<Seat>()))
    })
}
