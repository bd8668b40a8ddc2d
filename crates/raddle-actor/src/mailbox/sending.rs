//! Sending as a future: at once where there is room, else in line, with the message in the node.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::wait::{Phase, Removed, WaitKind, Waiter};

use super::error::SendError;
use super::push::Offer;
use super::shared::{ACCEPTED, Entry, Shared, Slot};

/// The future of [`Address::send`](crate::Address::send).
///
/// # Panics
///
/// When polled again after it was ready.
#[must_use = "futures do nothing unless awaited"]
pub struct Sending<'a, M> {
    shared: &'a Shared<M>,
    node: Waiter<Slot<M>>,
}

impl<'a, M> Sending<'a, M> {
    #[track_caller]
    #[inline]
    pub(crate) fn new(shared: &'a Shared<M>, message: M, is_call: bool) -> Self {
        let entry = Entry { message, is_call };
        Sending { shared, node: Waiter::new(WaitKind::Room, Some(entry)) }
    }

    /// Gives up and takes the message back; `None` if it was accepted.
    pub fn take_back(self: Pin<&mut Self>) -> Option<M> {
        let this = self.into_ref();
        this.leave();
        this.get_ref().take_entry().map(|entry| entry.message)
    }

    /// The message, of a node that does not wait.
    #[inline]
    fn take_entry(&self) -> Option<Entry<M>> {
        // SAFETY: a node that does not wait has its payload to its owner, who is polled by one
        // thread at a time.
        self.node.payload().with_mut(|slot| unsafe { (*slot).take() })
    }

    #[inline]
    fn node(&self) -> Pin<&Waiter<Slot<M>>> {
        // SAFETY: called where the future is pinned, and the node with it.
        unsafe { Pin::new_unchecked(&self.node) }
    }

    /// The first poll.
    #[inline]
    fn start(self: Pin<&Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        ready!(context::check_budget(cx));
        let Some(entry) = self.take_entry() else { panic!("a send was polled after it was ready") };
        let outcome = match self.shared.offer(entry) {
            // Foreign code, the clone of the waker, runs without the lock.
            // SAFETY: the node is pinned, idle, and leaves when the future is dropped.
            Offer::Full(entry) if self.shared.waits() => unsafe {
                self.shared.offer_or_wait(entry, Some((self.node(), cx.waker().clone())))
            },
            other => other,
        };
        match outcome {
            Offer::Done => {
                context::spend();
                Poll::Ready(Ok(()))
            }
            Offer::Waiting => Poll::Pending,
            Offer::Full(entry) => Poll::Ready(Err(SendError::Full(entry.message))),
            Offer::Closed(entry) => Poll::Ready(Err(SendError::Closed(entry.message))),
        }
    }

    /// A poll while in line.
    #[cold]
    fn go_on(self: Pin<&Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        // SAFETY: the node is pinned, and was pushed to this queue.
        let outcome = ready!(unsafe { self.shared.queue.poll(self.node(), cx) });
        if outcome == ACCEPTED {
            return Poll::Ready(Ok(()));
        }
        match self.take_entry() {
            Some(entry) => Poll::Ready(Err(SendError::Closed(entry.message))),
            None => unreachable!("a message that was refused is in its node"),
        }
    }

    /// Leaves the line, if it stands in it.
    #[inline]
    fn leave(self: Pin<&Self>) {
        if !self.node.is_idle() {
            self.leave_line();
        }
    }

    #[cold]
    fn leave_line(self: Pin<&Self>) {
        let mut locked = self.shared.queue.lock();
        // SAFETY: the node was pushed to this queue.
        let removed = unsafe { locked.remove(self.node()) };
        drop(locked);
        // Foreign code: the waker is dropped after the lock. A message that was let in is the
        // mailbox's; one that was not stays in the node.
        if let Removed::Waiting(waker) = removed {
            drop(waker);
        }
    }
}

impl<M> Future for Sending<'_, M> {
    type Output = Result<(), SendError<M>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref();
        if this.node.phase() == Phase::Idle { this.start(cx) } else { this.go_on(cx) }
    }
}

impl<M> Drop for Sending<'_, M> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: a future that was polled was pinned and did not move since; one that was not has
        // an idle node.
        unsafe { Pin::new_unchecked(&*self) }.leave();
    }
}

impl<M> fmt::Debug for Sending<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").field("waiter", &self.node).finish()
    }
}
