//! Waiting for the end of a mailbox, as those do who have an address and nothing to send.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::wait::{Phase, Removed, WaitKind, Waiter};

use super::shared::{Shared, Slot, WATCHERS};

/// The future of [`Address::closed`](crate::Address::closed).
#[must_use = "futures do nothing unless awaited"]
pub struct Closed<M> {
    shared: Arc<Shared<M>>,
    node: Waiter<Slot<M>>,
}

impl<M> Closed<M> {
    #[track_caller]
    pub(crate) fn new(shared: Arc<Shared<M>>) -> Self {
        Closed { shared, node: Waiter::new(WaitKind::Closed, None) }
    }

    fn poll_end(self: Pin<&Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_ref();
        // SAFETY: the node is pinned with the future, used with this queue only, and leaves it
        // when the future is dropped.
        let node = unsafe { Pin::new_unchecked(&this.node) };
        if node.phase() != Phase::Idle {
            // SAFETY: as above; it was pushed to this queue.
            return unsafe { this.shared.queue.poll(node, cx) }.map(|_| ());
        }
        if this.shared.is_closed() {
            return Poll::Ready(());
        }
        // Foreign code: before the lock, and where it is not needed dropped after it.
        let waker = cx.waker().clone();
        let mut locked = this.shared.queue.lock();
        if this.shared.is_closed_locked() {
            drop(locked);
            drop(waker);
            return Poll::Ready(());
        }
        // SAFETY: as above; the node is idle.
        unsafe { locked.push_back_to(WATCHERS, node, Some(waker)) };
        Poll::Pending
    }
}

impl<M> Future for Closed<M> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        ready!(context::check_budget(cx));
        ready!(self.into_ref().poll_end(cx));
        context::spend();
        Poll::Ready(())
    }
}

impl<M> Drop for Closed<M> {
    fn drop(&mut self) {
        if self.node.phase() == Phase::Idle {
            return;
        }
        // SAFETY: a future that was polled was pinned and did not move since.
        let node = unsafe { Pin::new_unchecked(&self.node) };
        let mut locked = self.shared.queue.lock();
        // SAFETY: the node was pushed to this queue.
        let removed = unsafe { locked.remove(node) };
        drop(locked);
        // Foreign code: the waker is dropped after the lock.
        if let Removed::Waiting(waker) = removed {
            drop(waker);
        }
    }
}

impl<M> fmt::Debug for Closed<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closed").field("waiter", &self.node).finish()
    }
}
