//! Places that are reserved before there is a value: the wait for one, and what is done with it.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::wait::{WaitKind, Waiter};

use super::chan::Chan;
use super::error::{SendError, TrySendError};
use super::state::{Offer, SENDERS, SERVED};

/// A wait for one place.
pub(super) struct Place<T> {
    pub(super) node: Waiter<Offer<T>>,
}

impl<T> Place<T> {
    #[track_caller]
    pub(super) fn new() -> Self {
        Place { node: Waiter::new(WaitKind::Room, Offer::NONE) }
    }

    /// # Safety
    ///
    /// `self` is pinned, is used with this channel only, and [`leave`](Self::leave) is called
    /// before it goes away.
    pub(super) unsafe fn poll(
        &self,
        chan: &Chan<T>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<()>>> {
        ready!(context::check_budget(cx));
        // SAFETY: the caller says so.
        let node = unsafe { Pin::new_unchecked(&self.node) };
        if !node.is_idle() {
            // SAFETY: passed on from the caller.
            let outcome = ready!(unsafe { chan.queue.poll(node, cx) });
            context::spend();
            return Poll::Ready(match outcome {
                SERVED => Ok(()),
                _ => Err(chan.refuse(())),
            });
        }
        loop {
            let error = match chan.try_reserve() {
                Ok(()) => {
                    context::spend();
                    return Poll::Ready(Ok(()));
                }
                Err(TrySendError::Full(())) => None,
                Err(TrySendError::Closed(())) => Some(SendError::Closed(())),
                Err(TrySendError::Disconnected(())) => Some(SendError::Disconnected(())),
            };
            if let Some(error) = error {
                return Poll::Ready(Err(error));
            }
            // Foreign code (the clone): before the lock.
            let waker = cx.waker().clone();
            // SAFETY: passed on from the caller; the node is idle.
            if unsafe { chan.wait_for_room(node, waker) } {
                return Poll::Pending;
            }
        }
    }

    /// # Safety
    ///
    /// As for [`poll`](Self::poll), if that was called.
    pub(super) unsafe fn leave(&self, chan: &Chan<T>) {
        if self.node.is_idle() {
            return;
        }
        // SAFETY: it was polled, so it is pinned; the rest is passed on from the caller.
        let outcome = unsafe { chan.leave(Pin::new_unchecked(&self.node), SENDERS) };
        if outcome == Some(SERVED) {
            chan.return_place();
        }
    }
}

/// A wait for a place in a channel.
///
/// # Cancel safety
///
/// Dropping it gives up the place in line; a place already granted goes to the next sender.
#[must_use = "futures do nothing unless awaited"]
pub struct Reserve<'a, T> {
    chan: &'a Chan<T>,
    place: Place<T>,
}

impl<'a, T> Reserve<'a, T> {
    #[track_caller]
    pub(super) fn new(chan: &'a Chan<T>) -> Self {
        Reserve { chan, place: Place::new() }
    }
}

impl<'a, T> Future for Reserve<'a, T> {
    type Output = Result<Permit<'a, T>, SendError<()>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        // SAFETY: the place is pinned with the future, and left when that is dropped.
        let result = ready!(unsafe { this.place.poll(this.chan, cx) });
        Poll::Ready(result.map(|()| Permit::new(this.chan)))
    }
}

impl<T> Drop for Reserve<'_, T> {
    fn drop(&mut self) {
        // SAFETY: as in `poll`.
        unsafe { self.place.leave(self.chan) };
    }
}

impl<T> fmt::Debug for Reserve<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reserve").field("waiter", &self.place.node).finish()
    }
}

/// One place in a channel. Dropping it unused gives the place to the next sender.
#[must_use = "the place is given back as soon as this is dropped"]
pub struct Permit<'a, T> {
    chan: &'a Chan<T>,
}

impl<'a, T> Permit<'a, T> {
    pub(super) fn new(chan: &'a Chan<T>) -> Self {
        Permit { chan }
    }

    /// Sends the value, without waiting. A channel that was closed since still gives it to a
    /// receiver; if all receivers are gone the value is dropped.
    pub fn send(self, value: T) {
        let chan = self.chan;
        mem::forget(self);
        chan.send_reserved(value);
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.chan.return_place();
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}
