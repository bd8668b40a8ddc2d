//! Waiting for the end of a process.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::wait::{Phase, Removed, WaitKind, Waiter};

use super::core::Control;
use super::word::DONE;
use crate::exit::ExitReason;

/// How a wait for the end ends. There is one way only.
const ENDED: u8 = 1;

/// The future of [`ProcessRef::join`](super::ProcessRef::join): the exit reason.
#[must_use = "futures do nothing unless awaited"]
pub struct Joined {
    control: Arc<Control>,
    node: Waiter,
}

impl Joined {
    #[track_caller]
    pub(crate) fn new(control: Arc<Control>) -> Self {
        Joined { control, node: Waiter::new(WaitKind::Join, ()) }
    }

    /// True when the end has come.
    fn poll_end(self: Pin<&Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_ref();
        // SAFETY: the node is pinned with the future, used with this queue only, and leaves it
        // when the future is dropped.
        let node = unsafe { Pin::new_unchecked(&this.node) };
        if node.phase() != Phase::Idle {
            // SAFETY: as above; it was pushed to this queue.
            return unsafe { this.control.joiners.poll(node, cx) }.map(|_| ());
        }
        if this.control.word().has(DONE) {
            return Poll::Ready(());
        }
        // Foreign code: before the lock, and where it is not needed dropped after it.
        let waker = cx.waker().clone();
        let mut joiners = this.control.joiners.lock();
        if this.control.word().has_locked(DONE) {
            drop(joiners);
            drop(waker);
            return Poll::Ready(());
        }
        // SAFETY: as above; the node is idle.
        unsafe { joiners.push_back(node, Some(waker)) };
        Poll::Pending
    }
}

/// Releases all who wait for the end, and all who will.
pub(crate) fn announce_end(control: &Control) {
    let joiners = control.joiners.lock();
    control.word().set(DONE);
    joiners.release_all(ENDED);
}

impl Future for Joined {
    type Output = ExitReason;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ExitReason> {
        ready!(context::check_budget(cx));
        let this = self.into_ref();
        ready!(this.poll_end(cx));
        context::spend();
        let reason = this.control.lock().reason.clone();
        Poll::Ready(reason.unwrap_or(ExitReason::NoProcess))
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        if self.node.phase() == Phase::Idle {
            return;
        }
        // SAFETY: a future that was polled was pinned and did not move since.
        let node = unsafe { Pin::new_unchecked(&self.node) };
        let mut joiners = self.control.joiners.lock();
        // SAFETY: the node was pushed to this queue.
        let removed = unsafe { joiners.remove(node) };
        drop(joiners);
        // Foreign code: the waker is dropped after the lock.
        if let Removed::Waiting(waker) = removed {
            drop(waker);
        }
    }
}

impl fmt::Debug for Joined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joined").field("pid", &self.control.pid).finish()
    }
}
