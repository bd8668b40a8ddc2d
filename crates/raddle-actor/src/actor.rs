//! Actors: state and handlers, with a stack only while a handler runs.
//!
//! # States
//!
//! | state | holds | next |
//! |---|---|---|
//! | starting | state | `started` runs |
//! | idle | state, mailbox; no stack, not pinned | a message or an event: a handler runs |
//! | busy | a stack too; pinned once the handler has waited | the handler returns: idle |
//! | stopping | a stack | `stopped` has run, or was killed: over |
//!
//! A handler that never waits begins and ends in one poll, on a stack that goes back at once; the
//! task is then still free to be stolen. One that waits keeps its stack and its thread until it
//! returns. While there are messages, and budget, one stay on a stack serves several.

use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomPinned;
use std::mem;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_fiber::Stacks;
use raddle_runtime::task;

use crate::control::{Event, MonitorRef};
use crate::cx::{Core, Cx};
use crate::exit::ExitReason;
use crate::home::Home;
use crate::pid::Pid;
use crate::seat::drop_without_stack;
use crate::stay::{End, Heeds, Stay};

/// State that is worked on by one message after the other.
///
/// Between two messages an actor has neither a stack nor a thread of its own: it is its state and
/// its mailbox. Each handler runs on a borrowed stack and may block like a thread: in every call
/// of raddle's, and in any future by `.wait()`.
pub trait Actor: Send + Sized + 'static {
    /// What it receives.
    type Message: Send + 'static;

    /// Runs before the first message.
    fn started(&mut self, cx: &mut Cx<Self::Message>) {
        let _ = cx;
    }

    /// Runs for each message.
    fn handle(&mut self, message: Self::Message, cx: &mut Cx<Self::Message>);

    /// Runs for each exit signal, if [trapped](Cx::trap_exit). `from` is who ended or sent it, if
    /// that was a process. If it is not written, the actor ends with the signal's reason unless
    /// that is normal.
    fn handle_exit(&mut self, from: Option<Pid>, reason: ExitReason, cx: &mut Cx<Self::Message>) {
        let _ = from;
        if !reason.is_normal() {
            cx.exit(reason);
        }
    }

    /// Runs for each end of a process that it [monitors](Cx::monitor).
    fn handle_down(
        &mut self,
        monitor: MonitorRef,
        pid: Pid,
        reason: ExitReason,
        cx: &mut Cx<Self::Message>,
    ) {
        let _ = (monitor, pid, reason, cx);
    }

    /// Runs at the end, whatever the reason, but for a kill, and if [`started`](Self::started) was
    /// begun. A signal that arrives meanwhile does not disturb it, but for a kill.
    ///
    /// It does not run either if there is no stack to be had for it; nor if the stack of a handler
    /// had to be kept for ever as it was (see [`raddle_fiber::Unwound::Abandoned`]), which keeps
    /// this actor with it.
    fn stopped(&mut self, reason: &ExitReason, cx: &mut Cx<Self::Message>) {
        let _ = (reason, cx);
    }
}

/// What a stay on a stack begins with.
enum Job<M> {
    Start,
    Message(M),
    Event(Event),
    Stop(ExitReason),
}

enum State {
    Starting,
    Idle,
    Stopping(ExitReason),
    Over,
}

/// The task of an actor.
pub(crate) struct Body<A: Actor> {
    /// First, so that it is dropped before what it points at.
    stay: Option<Stay<()>>,
    state: State,
    actor: Home<A>,
    /// `started` has begun, so that `stopped` is owed.
    begun: Cell<bool>,
    core: Core<A::Message>,
    stacks: Stacks,
    fiber: raddle_fiber::Builder,
    _pinned: PhantomPinned,
}

// SAFETY: between handlers a body holds the actor, which is `Send`, and an empty seat. When a poll
// leaves something on a stack it has settled the task first, and it is released when the stack is
// empty; see `seat`.
unsafe impl<A: Actor> Send for Body<A> {}

impl<A: Actor> Body<A> {
    pub(crate) fn new(
        core: Core<A::Message>,
        actor: A,
        stacks: Stacks,
        fiber: raddle_fiber::Builder,
    ) -> Self {
        Body {
            stay: None,
            state: State::Starting,
            actor: Home::new(actor),
            begun: Cell::new(false),
            core,
            stacks,
            fiber,
            _pinned: PhantomPinned,
        }
    }

    /// Takes a stack for a job.
    fn begin(&mut self, job: Job<A::Message>) -> Result<(), ExitReason> {
        let heeds = if matches!(job, Job::Stop(_)) { Heeds::Kill } else { Heeds::All };
        let stack = match self.stacks.take() {
            Ok(stack) => stack,
            Err(error) => {
                drop_without_stack(job);
                return Err(ExitReason::failed(error));
            }
        };
        let fiber = self.fiber.clone();
        let Some(actor) = self.actor.state() else {
            unreachable!("an actor is given up at its end")
        };
        let (core, begun) = (&raw const self.core, &raw const self.begun);
        // SAFETY: the core is pinned with the body, whose drop ends the call first, or gives the
        // actor up; while there is a call, the actor is its alone.
        let run = move || unsafe { work::<A>(actor, core, begun, job) };
        // SAFETY: as above.
        let stay = unsafe { Stay::begin(&raw const (*core).seat, stack, fiber, heeds, run) };
        self.stay = Some(stay);
        Ok(())
    }

    /// Begins the end.
    fn stop(&mut self, reason: ExitReason) {
        let in_peace = reason != ExitReason::Killed && self.begun.get();
        self.state = State::Stopping(reason.clone());
        if in_peace && let Err(failed) = self.begin(Job::Stop(reason)) {
            self.state = State::Stopping(failed);
        }
    }

    /// What follows a stay on a stack.
    fn arrive(&mut self, end: End<()>) {
        let before = mem::replace(&mut self.state, State::Idle);
        match (before, end) {
            (State::Stopping(reason), End::Returned(())) => self.state = State::Stopping(reason),
            (State::Stopping(_), End::Panicked(payload)) => {
                self.state = State::Stopping(ExitReason::panicked(payload));
            }
            (State::Stopping(_), End::Forced(reason)) => self.state = State::Stopping(reason),
            // The actor is lent to that stack for ever: nobody may use it, nor drop it.
            (_, End::Abandoned(reason)) => {
                self.actor.give_up();
                self.state = State::Stopping(reason);
            }
            (_, End::Returned(())) => {}
            (_, End::Panicked(payload)) => self.stop(ExitReason::panicked(payload)),
            (_, End::Forced(reason)) => self.stop(reason),
        }
    }

    /// The next job of an idle actor; `Err` if it is to stop.
    fn poll_job(&mut self, cx: &mut Context<'_>) -> Poll<Result<Job<A::Message>, ExitReason>> {
        let event = self.core.life.poll_event(cx);
        if let Poll::Ready(event) = event {
            return Poll::Ready(event.map(Job::Event));
        }
        let message = ready!(self.core.mailbox.get_mut().poll_recv(cx));
        Poll::Ready(message.map(Job::Message).ok_or(ExitReason::Normal))
    }
}

impl<A: Actor> Future for Body<A> {
    type Output = Result<A, ExitReason>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: nothing is moved out of the body while a call may point at it.
        let this = unsafe { self.get_unchecked_mut() };
        loop {
            if let Some(stay) = &mut this.stay {
                // SAFETY: the seat of `begin`, pinned with the body.
                let end = ready!(unsafe { stay.step(&this.core.seat, &this.core.life, cx) });
                let settled = stay.is_settled();
                this.stay = None;
                if settled {
                    // SAFETY: it was spawned as a free task; the stack is unwound and given back.
                    unsafe { task::release() };
                }
                this.arrive(end);
                continue;
            }
            match &this.state {
                State::Starting => match this.core.life.doom() {
                    Some(reason) => this.state = State::Stopping(reason),
                    None => {
                        this.state = State::Idle;
                        if let Err(failed) = this.begin(Job::Start) {
                            this.state = State::Stopping(failed);
                        }
                    }
                },
                State::Idle => match ready!(this.poll_job(cx)) {
                    Ok(job) => {
                        if let Err(failed) = this.begin(job) {
                            this.stop(failed);
                        }
                    }
                    Err(reason) => this.stop(reason),
                },
                State::Stopping(_) => return Poll::Ready(this.end()),
                State::Over => unreachable!("an actor was polled after its end"),
            }
        }
    }
}

impl<A: Actor> Body<A> {
    fn end(&mut self) -> Result<A, ExitReason> {
        let State::Stopping(reason) = mem::replace(&mut self.state, State::Over) else {
            unreachable!("an actor ends once")
        };
        self.core.retire();
        let actor = self.actor.take();
        // State that nobody will get goes before the end is told: another incarnation may begin.
        let actor = match actor {
            Some(actor) if !reason.is_normal() => {
                drop_without_stack(actor);
                None
            }
            other => other,
        };
        self.core.life.end(reason.clone());
        actor.ok_or(reason)
    }
}

impl<A: Actor> Drop for Body<A> {
    fn drop(&mut self) {
        if let Some(mut stay) = self.stay.take() {
            // SAFETY: the seat of `begin`; a task that settled is dropped on its thread.
            if !unsafe { stay.abandon(&self.core.seat) } {
                // Lent to that stack for ever.
                self.actor.give_up();
            }
        }
        if let Some(actor) = self.actor.take() {
            drop_without_stack(actor);
        }
    }
}

/// A stay on a stack: one job, and the messages and events that are there after it.
///
/// # Safety
///
/// The pointers are valid until this returns, and the actor is used by nobody else.
unsafe fn work<A: Actor>(
    mut actor: NonNull<A>,
    core: *const Core<A::Message>,
    begun: *const Cell<bool>,
    job: Job<A::Message>,
) {
    // SAFETY: as promised.
    let (actor, core, begun) = unsafe { (actor.as_mut(), &*core, &*begun) };
    // SAFETY: the only context while this runs.
    let mut cx = unsafe { Cx::new(core) };
    let cx = &mut cx;
    match job {
        Job::Start => {
            begun.set(true);
            actor.started(cx);
        }
        Job::Stop(reason) => return actor.stopped(&reason, cx),
        Job::Message(message) => actor.handle(message, cx),
        Job::Event(event) => tell(actor, event, cx),
    }
    loop {
        context::spend();
        if !context::has_budget() || core.life.is_doomed() {
            return;
        }
        if let Some(event) = core.life.next_event() {
            tell(actor, event, cx);
        } else if let Ok(message) = cx.try_receive() {
            actor.handle(message, cx);
        } else {
            return;
        }
    }
}

fn tell<A: Actor>(actor: &mut A, event: Event, cx: &mut Cx<A::Message>) {
    match event {
        Event::Exit { pid, reason, .. } => actor.handle_exit(pid, reason, cx),
        Event::Down { monitor, pid, reason } => actor.handle_down(monitor, pid, reason, cx),
    }
}
