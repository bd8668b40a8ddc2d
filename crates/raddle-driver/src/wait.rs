//! Futures that attempt, wait in the source's queue, and attempt again.

use crate::handle::Handle;
use crate::interest::Direction;
use crate::shell::Attempt;
use crate::waiters::{Seat, WaitSlot};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Repeats an attempt until it does not block.
pub(crate) struct Attempting<'a, F> {
    handle: &'a Handle,
    direction: Direction,
    attempt: F,
    slot: WaitSlot,
    give_up: fn(&Handle),
}

impl<'a, F> Attempting<'a, F> {
    #[track_caller]
    pub(crate) fn new(handle: &'a Handle, direction: Direction, attempt: F) -> Self {
        Attempting { handle, direction, attempt, slot: WaitSlot::new(direction), give_up: |_| {} }
    }

    /// With what to do if it is dropped while it waits.
    pub(crate) fn or_give_up(mut self, give_up: fn(&Handle)) -> Self {
        self.give_up = give_up;
        self
    }
}

impl<F, T> Future for Attempting<'_, F>
where
    F: FnMut(&Handle) -> Attempt<T>,
{
    type Output = io::Result<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        // SAFETY: `slot` stays pinned; nothing else is, and nothing is moved out.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above.
        let slot = unsafe { Pin::new_unchecked(&this.slot) };
        let polled = this.handle.drive(this.direction, Seat::Queue(slot), cx, &mut this.attempt);
        if polled.is_ready() {
            this.handle.leave(slot);
        }
        polled
    }
}

impl<F> Drop for Attempting<'_, F> {
    fn drop(&mut self) {
        // SAFETY: the future was pinned if it was ever polled, and is not moved any more.
        let slot = unsafe { Pin::new_unchecked(&self.slot) };
        if self.handle.leave(slot) {
            (self.give_up)(self.handle);
        }
    }
}

/// Waits for readiness.
pub(crate) struct Ready<'a> {
    handle: &'a Handle,
    direction: Direction,
    slot: WaitSlot,
}

impl<'a> Ready<'a> {
    #[track_caller]
    pub(crate) fn new(handle: &'a Handle, direction: Direction) -> Ready<'a> {
        Ready { handle, direction, slot: WaitSlot::new(direction) }
    }
}

impl Future for Ready<'_> {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // SAFETY: `slot` stays pinned; nothing else is, and nothing is moved out.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above.
        let slot = unsafe { Pin::new_unchecked(&this.slot) };
        let polled = this.handle.poll_ready(this.direction, Seat::Queue(slot), cx);
        if polled.is_ready() {
            this.handle.leave(slot);
        }
        polled
    }
}

impl Drop for Ready<'_> {
    fn drop(&mut self) {
        // SAFETY: the future was pinned if it was ever polled, and is not moved any more.
        let slot = unsafe { Pin::new_unchecked(&self.slot) };
        self.handle.leave(slot);
    }
}
