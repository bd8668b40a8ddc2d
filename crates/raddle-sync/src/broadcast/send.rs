//! Sending with a value in hand, where senders wait: the future of `send`, and the form that ends
//! by time.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::shim::cell::UnsafeCell;
use raddle_base::wait::{Phase, WaitKind, Waiter};

use super::error::{SendError, SendTimeoutError};
use super::shared::{Denied, Shared, Wanted};
use crate::places::Places;
use crate::timed::{GiveUp, UntilTime, named_send_timeout};

/// A send in a lossless channel, which waits for room if there is none.
///
/// # Cancel safety
///
/// If it is dropped before it is ready, the value was not sent, and is dropped with it.
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
    node: Waiter<Wanted>,
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
            node: Waiter::new(WaitKind::Room, 1),
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
        let node = unsafe { Pin::new_unchecked(&self.node) };
        // SAFETY: as above.
        let result = ready!(unsafe { self.shared.poll_places(node, 1, cx) });
        let value = self.take_value();
        Poll::Ready(match result {
            Ok(()) => self.shared.send_held(value).map_err(SendError),
            Err(_) => Err(SendError(value)),
        })
    }
}

impl<T> GiveUp for Sending<'_, T> {
    type Timed = Result<usize, SendTimeoutError<T>>;

    fn in_time(output: Self::Output) -> Self::Timed {
        output.map_err(|error| SendTimeoutError::Closed(error.0))
    }

    fn give_up(self: Pin<&mut Self>) -> Self::Timed {
        Err(SendTimeoutError::Timeout(self.take_value()))
    }
}

named_send_timeout! {
    /// A send until some other future is ready. Dropping it is dropping the send: the value was not
    /// sent, and goes with it.
    Result<usize, SendTimeoutError<T>>
}

impl<'a, T, F: Future> SendTimeout<'a, T, F> {
    pub(super) fn new(sending: Sending<'a, T>, time_is_up: F) -> Self {
        SendTimeout(UntilTime::new(sending, time_is_up))
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
        unsafe { self.shared.leave_line(Pin::new_unchecked(&self.node), 1) };
    }
}

impl<T> fmt::Debug for Sending<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").field("waiter", &self.node).finish()
    }
}
