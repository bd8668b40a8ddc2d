//! Processes: free-form code with a stack, a mailbox and a life of its own.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_fiber::Stacks;
use raddle_runtime::task::JoinHandle;

use crate::address::Address;
use crate::control::{Life, ProcessRef};
use crate::cx::{Core, Cx};
use crate::exit::ExitReason;
use crate::pid::Pid;
use crate::seat::drop_without_stack;
use crate::stay::{End, Heeds, Stay};

/// A process that was spawned, as its parent sees it.
///
/// Dropping it lets the process go on by itself. It counts as an address of the mailbox.
pub struct Process<M, R> {
    address: Address<M>,
    process: ProcessRef,
    task: JoinHandle<Result<R, ExitReason>>,
}

impl<M, R> Process<M, R> {
    pub(crate) fn new(
        address: Address<M>,
        process: ProcessRef,
        task: JoinHandle<Result<R, ExitReason>>,
    ) -> Self {
        Process { address, process, task }
    }

    /// The address of its mailbox.
    pub fn address(&self) -> &Address<M> {
        &self.address
    }

    /// The reference for links, monitors and signals.
    pub fn process(&self) -> &ProcessRef {
        &self.process
    }

    /// The name by which all know it.
    pub fn pid(&self) -> Pid {
        self.process.pid()
    }

    /// Whether it has ended. True means that joining will not wait.
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Waits for its end: what its function returned, or the reason why it did not return. Gives
    /// up the address, so that a process that only serves messages can end.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future lets the process go on by itself; its result is then lost.
    pub fn join(self) -> Joining<R> {
        Joining { task: self.task }
    }

    /// Lets the process go on by itself, as dropping the handle does.
    pub fn detach(self) {}
}

impl<M, R> IntoFuture for Process<M, R> {
    type Output = Result<R, ExitReason>;
    type IntoFuture = Joining<R>;

    fn into_future(self) -> Joining<R> {
        self.join()
    }
}

impl<M, R> fmt::Debug for Process<M, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Process").field(&self.process).finish()
    }
}

/// The future of [`Process::join`].
#[must_use = "futures do nothing unless awaited"]
pub struct Joining<R> {
    task: JoinHandle<Result<R, ExitReason>>,
}

impl<R> Future for Joining<R> {
    type Output = Result<R, ExitReason>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(Pin::new(&mut self.task).poll(cx)) {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(payload) => Err(ExitReason::panicked(payload)),
                // The runtime has shut down.
                Err(_) => Err(ExitReason::Killed),
            },
        })
    }
}

impl<R> fmt::Debug for Joining<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joining").finish_non_exhaustive()
    }
}

/// The task of a process.
pub(crate) struct Body<F, M, R: 'static> {
    /// First, so that it is dropped before what it points at.
    stay: Option<Stay<R>>,
    start: Option<Start<F>>,
    core: Core<M>,
    _pinned: PhantomPinned,
}

struct Start<F> {
    f: F,
    stacks: Stacks,
    builder: raddle_fiber::Builder,
}

// SAFETY: before its first poll a body holds the function, which is `Send`, and an empty seat. When
// a poll leaves something on a stack it has settled the task first, so that the body is polled and
// dropped on that thread until its end; see `seat`.
unsafe impl<F: Send, M: Send, R: Send> Send for Body<F, M, R> {}

impl<F, M, R> Body<F, M, R>
where
    F: FnOnce(&mut Cx<M>) -> R + 'static,
    M: 'static,
{
    pub(crate) fn new(core: Core<M>, f: F, stacks: Stacks, builder: raddle_fiber::Builder) -> Self {
        let start = Some(Start { f, stacks, builder });
        Body { stay: None, start, core, _pinned: PhantomPinned }
    }

    /// Takes a stack for the function.
    fn begin(&mut self) -> Result<(), ExitReason> {
        let Some(Start { f, stacks, builder }) = self.start.take() else { return Ok(()) };
        if let Some(reason) = self.core.life.doom() {
            // What it captured may wait in its destructors, as it may on the stack it never had.
            drop_without_stack(f);
            return Err(reason);
        }
        let stack = match stacks.take() {
            Ok(stack) => stack,
            Err(error) => {
                // As above.
                drop_without_stack(f);
                return Err(ExitReason::failed(error));
            }
        };
        let core = &raw const self.core;
        let run = move || {
            // SAFETY: the core is pinned with the body, whose drop ends the call first.
            f(&mut unsafe { Cx::new(core) })
        };
        // SAFETY: as above.
        self.stay =
            Some(unsafe { Stay::begin(&raw const (*core).seat, stack, builder, Heeds::All, run) });
        Ok(())
    }
}

impl<F, M, R> Future for Body<F, M, R>
where
    F: FnOnce(&mut Cx<M>) -> R + 'static,
    M: 'static,
{
    type Output = Result<R, ExitReason>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: nothing is moved out of the body but the function, before it begins.
        let this = unsafe { self.get_unchecked_mut() };
        if this.stay.is_none()
            && let Err(reason) = this.begin()
        {
            this.core.retire();
            this.core.life.end(reason.clone());
            return Poll::Ready(Err(reason));
        }
        let Some(stay) = &mut this.stay else { unreachable!("a process was polled after its end") };
        // SAFETY: the seat of `begin`, pinned with the body.
        let end = ready!(unsafe { stay.step(&this.core.seat, &this.core.life, cx) });
        this.stay = None;
        this.core.retire();
        Poll::Ready(finish(&this.core.life, end))
    }
}

/// Tells everybody of the end.
pub(crate) fn finish<R>(life: &Life, end: End<R>) -> Result<R, ExitReason> {
    match end {
        End::Returned(value) => {
            life.end(ExitReason::Normal);
            Ok(value)
        }
        End::Panicked(payload) => fail(life, ExitReason::panicked(payload)),
        // What an abandoned stack of a process borrowed lies on it.
        End::Forced(reason) | End::Abandoned(reason) => fail(life, reason),
    }
}

fn fail<R>(life: &Life, reason: ExitReason) -> Result<R, ExitReason> {
    life.end(reason.clone());
    Err(reason)
}

impl<F, M, R> Drop for Body<F, M, R> {
    fn drop(&mut self) {
        if let Some(mut stay) = self.stay.take() {
            // SAFETY: the seat of `begin`; a task that settled is dropped on its thread.
            unsafe { stay.abandon(&self.core.seat) };
        }
    }
}
