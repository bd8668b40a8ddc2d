//! Waiting for room: with a value in hand, for a place, for many places.
//!
//! Each of these futures holds a node in the queue for permits, and on drop leaves the queue or
//! gives back what it had been granted; a receiver that closed and waits for the last place is
//! told.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::shim::cell::UnsafeCell;
use raddle_base::wait::{WaitKind, Waiter};

use super::chan::Chan;
use super::error::SendError;
use super::kind::Bounded;
use super::permit::{Permit, PermitIterator};
use crate::permits::{Denied, Need};

/// A wait for places: the node, and how many are wanted.
pub(super) struct Place {
    count: usize,
    pub(super) node: Waiter<Need>,
}

impl Place {
    #[inline]
    #[track_caller]
    pub(super) fn new(count: usize) -> Self {
        Place { count, node: Waiter::new(WaitKind::Room, Need::none()) }
    }

    /// # Safety
    ///
    /// `self` is pinned, is used with this channel only, and [`leave`](Self::leave) is called
    /// before it goes away.
    pub(super) unsafe fn poll<T>(
        &self,
        chan: &Chan<T, Bounded>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Denied>> {
        // SAFETY: the node is pinned with the whole; the rest is passed on from the caller.
        unsafe { chan.permits().poll_acquire(Pin::new_unchecked(&self.node), self.count, cx) }
    }

    /// # Safety
    ///
    /// As for [`poll`](Self::poll), if that was called.
    #[inline]
    pub(super) unsafe fn leave<T>(&self, chan: &Chan<T, Bounded>) {
        if !self.node.is_idle() {
            // SAFETY: passed on from the caller.
            unsafe { self.leave_queue(chan) };
        }
    }

    /// # Safety
    ///
    /// As for [`leave`](Self::leave).
    #[cold]
    unsafe fn leave_queue<T>(&self, chan: &Chan<T, Bounded>) {
        // SAFETY: it was polled, so it is pinned; the rest is passed on from the caller.
        unsafe { chan.permits().cancel(Pin::new_unchecked(&self.node), self.count) };
        chan.places_returned();
    }
}

/// The future of [`Sender::send`](super::Sender::send).
#[must_use = "futures do nothing unless awaited"]
pub struct Sending<'a, T> {
    chan: &'a Chan<T, Bounded>,
    /// Touched by the future only.
    value: UnsafeCell<Option<T>>,
    place: Place,
}

// SAFETY: a shared reference to this gives no access to the value.
unsafe impl<T: Send> Sync for Sending<'_, T> {}

impl<'a, T> Sending<'a, T> {
    #[track_caller]
    #[inline]
    pub(super) fn new(chan: &'a Chan<T, Bounded>, value: T) -> Self {
        Sending { chan, value: UnsafeCell::new(Some(value)), place: Place::new(1) }
    }

    #[inline]
    fn take_value(&self) -> T {
        // SAFETY: the future alone touches the value, and is polled by one thread at a time.
        let value = self.value.with_mut(|value| unsafe { (*value).take() });
        value.expect("a send was polled after it was ready")
    }

    /// Waits for a place, or goes on waiting.
    #[cold]
    fn poll_waiting(&self, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        // SAFETY: the place is pinned with the future, and left when that is dropped.
        let result = ready!(unsafe { self.place.poll(self.chan, cx) });
        let value = self.take_value();
        Poll::Ready(match result {
            Ok(()) => self.chan.send_held(value).map_err(SendError),
            Err(_) => Err(SendError(value)),
        })
    }

    /// Takes the value back, if it was not sent: the future is not to be polled again.
    pub(super) fn give_up(self: Pin<&Self>) -> Option<T> {
        // SAFETY: the caller has the future, which is not being polled.
        self.value.with_mut(|value| unsafe { (*value).take() })
    }
}

impl<T> Future for Sending<'_, T> {
    type Output = Result<(), SendError<T>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        if !this.place.node.is_idle() {
            return this.poll_waiting(cx);
        }
        ready!(context::check_budget(cx));
        match this.chan.try_send(this.take_value()) {
            Ok(()) => {
                context::spend();
                Poll::Ready(Ok(()))
            }
            Err((Denied::Closed, value)) => Poll::Ready(Err(SendError(value))),
            Err((Denied::NotNow, value)) => {
                // SAFETY: the future alone touches the value, polled by one thread at a time.
                this.value.with_mut(|slot| unsafe { *slot = Some(value) });
                this.poll_waiting(cx)
            }
        }
    }
}

impl<T> Drop for Sending<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `poll`.
        unsafe { self.place.leave(self.chan) };
    }
}

impl<T> fmt::Debug for Sending<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").field("waiter", &self.place.node).finish()
    }
}

/// The future of [`Sender::reserve`](super::Sender::reserve).
#[must_use = "futures do nothing unless awaited"]
pub struct Reserve<'a, T> {
    chan: &'a Chan<T, Bounded>,
    place: Place,
}

impl<'a, T> Reserve<'a, T> {
    #[track_caller]
    pub(super) fn new(chan: &'a Chan<T, Bounded>) -> Self {
        Reserve { chan, place: Place::new(1) }
    }
}

impl<'a, T> Future for Reserve<'a, T> {
    type Output = Result<Permit<'a, T>, SendError<()>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        // SAFETY: the place is pinned with the future, and left when that is dropped.
        let result = ready!(unsafe { this.place.poll(this.chan, cx) });
        Poll::Ready(result.map(|()| Permit::new(this.chan)).map_err(|_| SendError(())))
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

/// The future of [`Sender::reserve_many`](super::Sender::reserve_many).
#[must_use = "futures do nothing unless awaited"]
pub struct ReserveMany<'a, T> {
    chan: &'a Chan<T, Bounded>,
    place: Place,
}

impl<'a, T> ReserveMany<'a, T> {
    #[track_caller]
    pub(super) fn new(chan: &'a Chan<T, Bounded>, count: usize) -> Self {
        ReserveMany { chan, place: Place::new(count) }
    }
}

impl<'a, T> Future for ReserveMany<'a, T> {
    type Output = Result<PermitIterator<'a, T>, SendError<()>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        if this.place.count > this.chan.capacity {
            return Poll::Ready(Err(SendError(())));
        }
        // SAFETY: the place is pinned with the future, and left when that is dropped.
        let result = ready!(unsafe { this.place.poll(this.chan, cx) });
        let count = this.place.count;
        Poll::Ready(
            result.map(|()| PermitIterator::new(this.chan, count)).map_err(|_| SendError(())),
        )
    }
}

impl<T> Drop for ReserveMany<'_, T> {
    fn drop(&mut self) {
        // SAFETY: as in `poll`.
        unsafe { self.place.leave(self.chan) };
    }
}

impl<T> fmt::Debug for ReserveMany<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReserveMany").field("waiter", &self.place.node).finish()
    }
}
