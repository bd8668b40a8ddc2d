//! Waiting for room: with a value in hand, or for a permit.
//!
//! Each of these futures holds a node in the channel's line of senders, and on drop leaves it or
//! gives back the room it had been granted.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::shim::cell::UnsafeCell;
use raddle_base::wait::{Phase, WaitKind, Waiter};

use super::error::SendError;
use super::mode::Lossless;
use super::permit::{OwnedPermit, Permit};
use super::sender::Sender;
use super::shared::{Denied, Shared};

/// Waits for a place, or goes on waiting; spends the budget.
///
/// # Safety
///
/// The caller owns `node`, uses it with this channel only, and leaves the line with it before it
/// goes away.
unsafe fn poll_place<T>(
    shared: &Shared<T>,
    node: Pin<&Waiter>,
    cx: &mut Context<'_>,
) -> Poll<Result<(), Denied>> {
    ready!(context::check_budget(cx));
    // SAFETY: passed on from the caller.
    let result = ready!(unsafe { shared.poll_hold(node, cx) });
    context::spend();
    Poll::Ready(result)
}

/// The future of [`Sender::send`] of a lossless channel.
///
/// It contains the waiter's place in the line, so it must be pinned to be polled and cannot be
/// moved after:
///
/// ```compile_fail,E0277
/// fn movable<T: Unpin>(_: T) {}
/// let (tx, _rx) = raddle_sync::broadcast::lossless_channel(1);
/// movable(tx.send(1));
/// ```
#[must_use = "futures do nothing unless awaited"]
pub struct Sending<'a, T> {
    shared: &'a Shared<T>,
    /// Touched by the future only.
    value: UnsafeCell<Option<T>>,
    node: Waiter,
}

// SAFETY: a shared reference to this gives no access to the value.
unsafe impl<T: Send + Sync> Sync for Sending<'_, T> {}

impl<'a, T> Sending<'a, T> {
    #[inline]
    #[track_caller]
    pub(super) fn new(shared: &'a Shared<T>, value: T) -> Self {
        Sending {
            shared,
            value: UnsafeCell::new(Some(value)),
            node: Waiter::new(WaitKind::Room, ()),
        }
    }

    #[inline]
    fn take_value(&self) -> T {
        // SAFETY: the future alone touches the value, and is polled by one thread at a time.
        let value = self.value.with_mut(|value| unsafe { (*value).take() });
        value.expect("a send was polled after it was ready")
    }

    #[cold]
    fn poll_waiting(&self, cx: &mut Context<'_>) -> Poll<Result<usize, SendError<T>>> {
        // SAFETY: the node is pinned with the future, and leaves when that is dropped.
        let result = unsafe { poll_place(self.shared, Pin::new_unchecked(&self.node), cx) };
        let result = ready!(result);
        let value = self.take_value();
        Poll::Ready(match result {
            Ok(()) => self.shared.send_held(value).map_err(SendError),
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
    type Output = Result<usize, SendError<T>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        if this.node.phase() != Phase::Idle {
            return this.poll_waiting(cx);
        }
        ready!(context::check_budget(cx));
        match this.shared.try_send(this.take_value()) {
            Ok(receivers) => {
                context::spend();
                Poll::Ready(Ok(receivers))
            }
            Err((Denied::Closed, value)) => Poll::Ready(Err(SendError(value))),
            Err((Denied::Full, value)) => {
                // SAFETY: as in `take_value`.
                this.value.with_mut(|slot| unsafe { *slot = Some(value) });
                this.poll_waiting(cx)
            }
        }
    }
}

impl<T> Drop for Sending<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `poll_waiting`; what was polled was pinned and did not move since.
        unsafe { self.shared.leave_line(Pin::new_unchecked(&self.node)) };
    }
}

impl<T> fmt::Debug for Sending<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").field("waiter", &self.node).finish()
    }
}

/// The future of [`Sender::reserve`].
#[must_use = "futures do nothing unless awaited"]
pub struct Reserve<'a, T> {
    shared: &'a Shared<T>,
    node: Waiter,
}

impl<'a, T> Reserve<'a, T> {
    #[track_caller]
    pub(super) fn new(shared: &'a Shared<T>) -> Self {
        Reserve { shared, node: Waiter::new(WaitKind::Room, ()) }
    }
}

impl<'a, T> Future for Reserve<'a, T> {
    type Output = Result<Permit<'a, T>, SendError<()>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        // SAFETY: the node is pinned with the future, and leaves when that is dropped.
        let result = unsafe { poll_place(this.shared, Pin::new_unchecked(&this.node), cx) };
        result.map(|result| match result {
            Ok(()) => Ok(Permit::new(this.shared)),
            Err(_) => Err(SendError(())),
        })
    }
}

impl<T> Drop for Reserve<'_, T> {
    fn drop(&mut self) {
        // SAFETY: as in `poll`; what was polled was pinned and did not move since.
        unsafe { self.shared.leave_line(Pin::new_unchecked(&self.node)) };
    }
}

impl<T> fmt::Debug for Reserve<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reserve").field("waiter", &self.node).finish()
    }
}

/// The future of [`Sender::reserve_owned`].
#[must_use = "futures do nothing unless awaited"]
pub struct ReserveOwned<T> {
    sender: Sender<T, Lossless>,
    node: Waiter,
}

impl<T> ReserveOwned<T> {
    #[track_caller]
    pub(super) fn new(sender: Sender<T, Lossless>) -> Self {
        ReserveOwned { sender, node: Waiter::new(WaitKind::Room, ()) }
    }
}

impl<T> Future for ReserveOwned<T> {
    type Output = Result<OwnedPermit<T>, SendError<()>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        let shared = &this.sender.shared;
        // SAFETY: the node is pinned with the future, and leaves when that is dropped.
        let result = unsafe { poll_place(shared, Pin::new_unchecked(&this.node), cx) };
        result.map(|result| match result {
            Ok(()) => Ok(OwnedPermit::new(this.sender.clone())),
            Err(_) => Err(SendError(())),
        })
    }
}

impl<T> Drop for ReserveOwned<T> {
    fn drop(&mut self) {
        // SAFETY: as in `poll`; what was polled was pinned and did not move since.
        unsafe { self.sender.shared.leave_line(Pin::new_unchecked(&self.node)) };
    }
}

impl<T> fmt::Debug for ReserveOwned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReserveOwned").field("waiter", &self.node).finish()
    }
}
