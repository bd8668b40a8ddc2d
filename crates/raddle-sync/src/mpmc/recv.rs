//! Receiving: the wait for a value, and the futures that are made of it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::wait::{WaitKind, Waiter};

use super::chan::Chan;
use super::error::{RecvError, TryRecvError};
use super::state::{Offer, RECEIVERS, SERVED};

/// A receiver's place in line.
pub(super) struct Turn<T> {
    node: Waiter<Offer<T>>,
}

/// How to take something out of the channel; true if a value was promised.
type Take<'a, R> = &'a mut dyn FnMut(bool) -> Result<R, TryRecvError>;

impl<T> Turn<T> {
    #[inline]
    #[track_caller]
    pub(super) fn new() -> Self {
        Turn { node: Waiter::new(WaitKind::Value, Offer::NONE) }
    }

    /// Receives a value.
    ///
    /// # Safety
    ///
    /// `self` is pinned, is used with this channel only, and [`leave`](Self::leave) is called
    /// before it goes away.
    #[inline]
    pub(super) unsafe fn poll(
        &self,
        chan: &Chan<T>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<T, RecvError>> {
        ready!(context::check_budget(cx));
        if self.node.is_idle()
            && let Ok(value) = chan.try_recv()
        {
            context::spend();
            return Poll::Ready(Ok(value));
        }
        let take: Take<'_, T> = &mut |promised| match promised {
            true => chan.recv_promised(),
            false => chan.try_recv(),
        };
        // SAFETY: passed on from the caller.
        unsafe { self.poll_waiting(chan, take, cx) }
    }

    /// Waits until `take` gives something.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    #[cold]
    unsafe fn poll_waiting<R>(
        &self,
        chan: &Chan<T>,
        take: Take<'_, R>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<R, RecvError>> {
        // SAFETY: the caller says so.
        let node = unsafe { Pin::new_unchecked(&self.node) };
        let mut promised = false;
        if !node.is_idle() {
            // SAFETY: passed on from the caller.
            promised = ready!(unsafe { chan.queue.poll(node, cx) }) == SERVED;
        }
        // A promise can be broken in a rendezvous: then this one is the next again.
        let again = promised;
        loop {
            let error = match take(std::mem::take(&mut promised)) {
                Ok(taken) => {
                    context::spend();
                    return Poll::Ready(Ok(taken));
                }
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Closed) => Some(RecvError::Closed),
                Err(TryRecvError::Disconnected) => Some(RecvError::Disconnected),
            };
            if let Some(error) = error {
                context::spend();
                return Poll::Ready(Err(error));
            }
            // Foreign code (the clone): before the lock.
            let waker = cx.waker().clone();
            // SAFETY: passed on from the caller; the node is idle.
            if unsafe { chan.wait_for_value(node, waker, again) } {
                return Poll::Pending;
            }
        }
    }

    /// # Safety
    ///
    /// As for [`poll`](Self::poll), if that was called.
    #[inline]
    pub(super) unsafe fn leave(&self, chan: &Chan<T>) {
        if !self.node.is_idle() {
            // SAFETY: passed on from the caller.
            unsafe { self.leave_line(chan) };
        }
    }

    /// # Safety
    ///
    /// As for [`leave`](Self::leave).
    #[cold]
    unsafe fn leave_line(&self, chan: &Chan<T>) {
        // SAFETY: it was polled, so it is pinned; the rest is passed on from the caller.
        let outcome = unsafe { chan.leave(Pin::new_unchecked(&self.node), RECEIVERS) };
        if outcome == Some(SERVED) {
            chan.return_promise();
        }
    }
}

impl<T> fmt::Debug for Turn<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node.fmt(f)
    }
}

/// A receive.
///
/// # Cancel safety
///
/// Dropping it loses nothing: no value leaves the channel before this is ready. A value it was
/// woken for goes to the next receiver, in the same order.
#[must_use = "futures do nothing unless awaited"]
pub struct Recv<'a, T> {
    chan: &'a Chan<T>,
    turn: Turn<T>,
}

impl<'a, T> Recv<'a, T> {
    #[inline]
    #[track_caller]
    pub(super) fn new(chan: &'a Chan<T>) -> Self {
        Recv { chan, turn: Turn::new() }
    }
}

impl<T> Future for Recv<'_, T> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        // SAFETY: the turn is pinned with the future, and left when that is dropped.
        unsafe { this.turn.poll(this.chan, cx) }
    }
}

impl<T> Drop for Recv<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `poll`.
        unsafe { self.turn.leave(self.chan) };
    }
}

impl<T> fmt::Debug for Recv<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recv").field("waiter", &self.turn).finish()
    }
}

/// A receive of several values. Cancel safety as of [`Recv`]: it adds values only when it is ready.
#[must_use = "futures do nothing unless awaited"]
pub struct RecvMany<'a, T> {
    chan: &'a Chan<T>,
    /// Touched by the future only.
    buffer: raddle_base::shim::cell::UnsafeCell<&'a mut Vec<T>>,
    limit: usize,
    turn: Turn<T>,
}

// SAFETY: a shared reference to this gives no access to the buffer.
unsafe impl<T: Send> Sync for RecvMany<'_, T> {}

impl<'a, T> RecvMany<'a, T> {
    #[track_caller]
    pub(super) fn new(chan: &'a Chan<T>, buffer: &'a mut Vec<T>, limit: usize) -> Self {
        let buffer = raddle_base::shim::cell::UnsafeCell::new(buffer);
        RecvMany { chan, buffer, limit, turn: Turn::new() }
    }
}

impl<T> Future for RecvMany<'_, T> {
    type Output = Result<usize, RecvError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        if this.limit == 0 {
            return Poll::Ready(Ok(0));
        }
        ready!(context::check_budget(cx));
        // SAFETY: the future alone touches the buffer, and is polled by one thread at a time.
        this.buffer.with_mut(|buffer| {
            let take: Take<'_, usize> = &mut |promised| {
                // SAFETY: as above.
                this.chan.take_many(unsafe { &mut *buffer }, this.limit, promised)
            };
            // SAFETY: the turn is pinned with the future, and left when that is dropped.
            unsafe { this.turn.poll_waiting(this.chan, take, cx) }
        })
    }
}

impl<T> Drop for RecvMany<'_, T> {
    fn drop(&mut self) {
        // SAFETY: as in `poll`.
        unsafe { self.turn.leave(self.chan) };
    }
}

impl<T> fmt::Debug for RecvMany<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("RecvMany");
        out.field("limit", &self.limit).field("waiter", &self.turn).finish()
    }
}
