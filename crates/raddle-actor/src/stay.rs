//! One call on a stack, poll by poll: resumed when the task is woken, ended when it has to be.

use std::any::Any;
use std::task::{Context, Poll};

use raddle_base::context;
use raddle_fiber::{Builder, Stack};

use crate::control::Life;
use crate::exit::ExitReason;
use crate::seat::{self, Call, Ended, Ran, Seat};

/// Which signals end a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heeds {
    /// All that end a process.
    All,
    /// Only a kill: the process is ending already, and may do so in peace.
    Kill,
}

impl Heeds {
    #[inline]
    fn is_ended(self, life: &Life) -> bool {
        match self {
            Heeds::All => life.is_doomed(),
            Heeds::Kill => life.is_killed(),
        }
    }

    /// Whether it is to end; if not, the task is woken when it is.
    #[inline]
    fn poll_end(self, life: &Life, cx: &mut Context<'_>) -> bool {
        match self {
            Heeds::All => life.poll_doom(cx).is_ready(),
            Heeds::Kill => life.poll_kill(cx).is_ready(),
        }
    }
}

/// A call that has begun.
pub(crate) struct Stay<R: 'static> {
    call: Call<R>,
    heeds: Heeds,
    /// The task is pinned to this worker, because the stack was left in the middle.
    settled: bool,
}

/// How a call ended.
pub(crate) enum End<R> {
    /// The function returned.
    Returned(R),
    /// The function panicked, or a destructor did while it was ended by force.
    Panicked(Box<dyn Any + Send>),
    /// It was ended by force, with this reason.
    Forced(ExitReason),
    /// The same, but its stack could not be unwound: what it borrowed is lent for ever.
    Abandoned(ExitReason),
}

impl<R: 'static> Stay<R> {
    /// Puts `f` on the stack.
    ///
    /// # Safety
    ///
    /// Until the end, or the drop, `seat` stays valid where it is, and whatever `f` points at
    /// does.
    pub(crate) unsafe fn begin(
        seat: *const Seat,
        stack: Stack,
        builder: Builder,
        heeds: Heeds,
        f: impl FnOnce() -> R + 'static,
    ) -> Self {
        // SAFETY: as promised.
        Stay { call: unsafe { Call::begin(seat, stack, builder, f) }, heeds, settled: false }
    }

    /// Whether the task was settled for this call.
    pub(crate) fn is_settled(&self) -> bool {
        self.settled
    }

    /// Goes on with the call until it waits or ends. After `Ready` it is over and to be dropped.
    ///
    /// # Safety
    ///
    /// `seat` is that of [`begin`](Self::begin).
    // Always: a yield is one pass through this, and half of what it costs.
    #[inline(always)]
    pub(crate) unsafe fn step(
        &mut self,
        seat: *const Seat,
        life: &Life,
        cx: &mut Context<'_>,
    ) -> Poll<End<R>> {
        // SAFETY: valid as promised; only shared references to it exist.
        let here = unsafe { &*seat };
        if self.heeds.is_ended(life) && !here.is_shielded() {
            // SAFETY: the same seat.
            return Poll::Ready(unsafe { self.force(seat, life, cx) });
        }
        // SAFETY: the same seat.
        match unsafe { self.call.resume(seat, cx.waker()) } {
            Ran::Away if self.settled && context::has_yielded() && !here.leaves() => {
                // A task that yields comes by again, and looks for signals then.
                Poll::Pending
            }
            // SAFETY: the same seat.
            Ran::Away => unsafe { self.away(seat, life, cx) },
            Ran::Over(Ok(value)) => Poll::Ready(End::Returned(value)),
            Ran::Over(Err(payload)) => Poll::Ready(End::Panicked(payload)),
        }
    }

    /// The stack was left in the middle.
    ///
    /// # Safety
    ///
    /// As for [`step`](Self::step).
    #[inline(never)]
    unsafe fn away(
        &mut self,
        seat: *const Seat,
        life: &Life,
        cx: &mut Context<'_>,
    ) -> Poll<End<R>> {
        if !self.settled {
            seat::settle();
            self.settled = true;
        }
        // SAFETY: valid as promised; only shared references to it exist.
        let here = unsafe { &*seat };
        let ends = here.leaves() || self.heeds.poll_end(life, cx);
        if !ends || here.is_shielded() {
            return Poll::Pending;
        }
        // SAFETY: the same seat.
        Poll::Ready(unsafe { self.force(seat, life, cx) })
    }

    /// # Safety
    ///
    /// As for [`step`](Self::step).
    #[cold]
    unsafe fn force(&mut self, seat: *const Seat, life: &Life, cx: &mut Context<'_>) -> End<R> {
        // SAFETY: valid as promised.
        let left = unsafe { &*seat }.take_reason();
        let reason = left.or_else(|| life.doom()).unwrap_or(ExitReason::Killed);
        // SAFETY: the same seat.
        match unsafe { self.call.unwind(seat, cx.waker()) } {
            Ended::Panicked(payload) => End::Panicked(payload),
            Ended::Unwound => End::Forced(reason),
            Ended::Abandoned => End::Abandoned(reason),
        }
    }

    /// Ends the call by force, because its task is being dropped. False if the stack could not be
    /// unwound: what it borrowed is lent for ever.
    ///
    /// # Safety
    ///
    /// As for [`step`](Self::step).
    pub(crate) unsafe fn abandon(&mut self, seat: *const Seat) -> bool {
        // SAFETY: the same seat.
        match unsafe { self.call.unwind(seat, std::task::Waker::noop()) } {
            Ended::Unwound => true,
            // The panic hook has told of it; there is nobody to hand it to.
            Ended::Panicked(payload) => {
                drop(payload);
                true
            }
            Ended::Abandoned => false,
        }
    }
}
