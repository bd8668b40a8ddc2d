//! The smallest primitive on a wait queue: a count of permits under its lock. For tests.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::wait::{Phase, Removed, WaitKind, WaitQueue, Waiter};

pub(crate) const ONE: u8 = 1;
pub(crate) const ALL: u8 = 2;

pub(crate) struct Gate {
    pub(crate) queue: WaitQueue<(), usize>,
}

impl Gate {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Gate { queue: WaitQueue::new(0) })
    }

    /// Lets the first waiter pass, or the next one to come.
    pub(crate) fn open_one(&self) {
        let mut locked = self.queue.lock();
        let wake = locked.grant_front(ONE);
        if wake.is_none() {
            *locked.shared() += 1;
        }
        drop(locked);
        if let Some(wake) = wake {
            wake.wake();
        }
    }

    /// Lets all pass who wait now.
    pub(crate) fn open_all(&self) {
        self.queue.lock().release_all(ALL);
    }

    pub(crate) fn permits(&self) -> usize {
        *self.queue.lock().shared()
    }

    #[track_caller]
    pub(crate) fn pass(self: &Arc<Self>) -> Pass {
        Pass { gate: self.clone(), node: Waiter::new(WaitKind::Other, ()) }
    }
}

pub(crate) struct Pass {
    gate: Arc<Gate>,
    node: Waiter,
}

impl Pass {
    pub(crate) fn node(self: Pin<&mut Self>) -> Pin<&Waiter> {
        // SAFETY: the node is pinned with the whole.
        unsafe { self.into_ref().map_unchecked(|pass| &pass.node) }
    }
}

impl Future for Pass {
    type Output = u8;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u8> {
        let gate = self.gate.clone();
        let node = self.node();
        if node.phase() != Phase::Idle {
            // SAFETY: this future owns the node, which it pushed to this queue.
            return unsafe { gate.queue.poll(node, cx) };
        }
        let waker = cx.waker().clone();
        let mut locked = gate.queue.lock();
        if *locked.shared() > 0 {
            *locked.shared() -= 1;
            return Poll::Ready(ONE);
        }
        // SAFETY: this future owns the node, and removes it when it is dropped.
        unsafe { locked.push_back(node, Some(waker)) };
        Poll::Pending
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        // SAFETY: the future was pinned when it was polled, and is not moved any more.
        let node = unsafe { Pin::new_unchecked(&self.node) };
        if node.phase() == Phase::Idle {
            return;
        }
        let mut locked = self.gate.queue.lock();
        // SAFETY: this future owns the node, which it pushed to this queue.
        let removed = unsafe { locked.remove(node) };
        drop(locked);
        if let Removed::Done(ONE) = removed {
            self.gate.open_one();
        }
    }
}
