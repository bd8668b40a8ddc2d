//! Sending with a value in hand: the futures of `send`, and the forms that end by time.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::shim::cell::UnsafeCell;
use raddle_base::wait::{Phase, WaitKind, Waiter};

use super::chan::Chan;
use super::error::{SendError, SendTimeoutError, TrySendError};
use super::state::{Offer, SENDERS, SERVED};
use crate::timed::{GiveUp, UntilTime, named_send_timeout};

/// A send that waits for room, or in a rendezvous for a receiver to take the value.
///
/// # Cancel safety
///
/// A send that is dropped before it waited did not happen. Once it waits, its value is taken by
/// whoever makes room, in the order of the queue: so dropping it takes the value back *unless it
/// was taken*, and then it was sent. [`take_back`](Self::take_back) tells which.
#[must_use = "futures do nothing unless awaited"]
pub struct Sending<'a, T> {
    chan: &'a Chan<T>,
    /// Touched by the future, and while it waits under the channel's lock.
    value: UnsafeCell<Option<T>>,
    node: Waiter<Offer<T>>,
}

// SAFETY: a shared reference to this gives no access to the value.
unsafe impl<T: Send> Sync for Sending<'_, T> {}

impl<'a, T> Sending<'a, T> {
    #[inline]
    #[track_caller]
    pub(super) fn new(chan: &'a Chan<T>, value: T) -> Self {
        let value = UnsafeCell::new(Some(value));
        Sending { chan, value, node: Waiter::new(WaitKind::Room, Offer::NONE) }
    }

    /// Gives the send up. Returns the value unless it was sent.
    ///
    /// The future is not to be polled after this.
    pub fn take_back(self: Pin<&mut Self>) -> Option<T> {
        let this = self.into_ref().get_ref();
        this.leave();
        this.value()
    }

    /// The value, with the node out of the line.
    #[inline]
    fn value(&self) -> Option<T> {
        debug_assert_ne!(self.node.phase(), Phase::Waiting, "the value is on offer");
        // SAFETY: the future alone touches the value while the node does not wait, and is used by
        // one thread at a time.
        self.value.with_mut(|value| unsafe { (*value).take() })
    }

    #[inline]
    fn leave(&self) {
        if !self.node.is_idle() {
            // SAFETY: a future that was polled is pinned, and its node was used with this channel.
            // Whether it was served is seen by the value being gone.
            let _ = unsafe { self.chan.leave(Pin::new_unchecked(&self.node), SENDERS) };
        }
    }

    fn value_in_hand(&self) -> T {
        self.value().expect("a send was polled after it was ready")
    }

    /// Waits, or goes on waiting.
    #[cold]
    fn poll_waiting(&self, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        ready!(context::check_budget(cx));
        // SAFETY: the node is pinned with the future, used with this channel only, and leaves when
        // the future is dropped.
        let outcome = ready!(unsafe { self.chan.queue.poll(Pin::new_unchecked(&self.node), cx) });
        context::spend();
        Poll::Ready(match outcome {
            SERVED => Ok(()),
            _ => Err(self.chan.refuse(self.value_in_hand())),
        })
    }

    /// Joins the line with the value in its cell, if there is no room.
    #[cold]
    fn wait_or_fail(
        &self,
        cx: &mut Context<'_>,
        mut error: TrySendError<T>,
    ) -> Poll<Result<(), SendError<T>>> {
        loop {
            let value = match error {
                TrySendError::Full(value) => value,
                TrySendError::Closed(value) => return Poll::Ready(Err(SendError::Closed(value))),
                TrySendError::Disconnected(value) => {
                    return Poll::Ready(Err(SendError::Disconnected(value)));
                }
            };
            // SAFETY: as in `value`: the node is idle.
            self.value.with_mut(|slot| unsafe { *slot = Some(value) });
            // SAFETY: the payload of an idle node is its owner's.
            self.node.payload().with_mut(|offer| unsafe { *offer = Offer::of(&self.value) });
            // Foreign code (the clone): before the lock.
            let waker = cx.waker().clone();
            // SAFETY: as in `poll_waiting`; the value lies beside the node.
            if unsafe { self.chan.wait_for_room(Pin::new_unchecked(&self.node), 1, waker) } {
                return Poll::Pending;
            }
            // There is room now, or the channel has ended.
            match self.chan.try_send(self.value_in_hand(), false) {
                Ok(()) => {
                    context::spend();
                    return Poll::Ready(Ok(()));
                }
                Err(again) => error = again,
            }
        }
    }
}

impl<T> Future for Sending<'_, T> {
    type Output = Result<(), SendError<T>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        if !this.node.is_idle() {
            return this.poll_waiting(cx);
        }
        ready!(context::check_budget(cx));
        match this.chan.try_send(this.value_in_hand(), false) {
            Ok(()) => {
                context::spend();
                Poll::Ready(Ok(()))
            }
            Err(error) => this.wait_or_fail(cx, error),
        }
    }
}

impl<T> Drop for Sending<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.leave();
    }
}

impl<T> fmt::Debug for Sending<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").field("waiter", &self.node).finish()
    }
}

impl<T> GiveUp for Sending<'_, T> {
    type Timed = Result<(), SendTimeoutError<T>>;

    fn in_time(output: Self::Output) -> Self::Timed {
        output.map_err(SendTimeoutError::from)
    }

    fn give_up(self: Pin<&mut Self>) -> Self::Timed {
        match self.take_back() {
            Some(value) => Err(SendTimeoutError::Timeout(value)),
            // Taken in the last moment: it was sent.
            None => Ok(()),
        }
    }
}

named_send_timeout! {
    /// A send until some other future is ready. See [`Sending`] for what dropping it does.
    Result<(), SendTimeoutError<T>>
}

impl<'a, T, F: Future> SendTimeout<'a, T, F> {
    pub(super) fn new(sending: Sending<'a, T>, time_is_up: F) -> Self {
        SendTimeout(UntilTime::new(sending, time_is_up))
    }
}
