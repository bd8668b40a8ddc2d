//! The end of one side of a channel, as the other side looks at it and waits for it.
//!
//! Question: how does a sender learn without a lock that nobody will receive, and how does it wait
//! for that? A flag is set first, then all who wait are notified. A wait is registered when it is
//! made, and looks at the flag after that; so an end that the look missed has notified it. The flag
//! is stored with release and loaded with acquire: what led to the end is visible. Models:
//! `model_mpsc_closed_against_drop`, `model_mpmc_closed_against_last_receiver`.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_base::shim::atomic::AtomicBool;
use raddle_base::shim::atomic::Ordering::{Acquire, Release};
use raddle_base::wait::WaitKind;

use crate::notify::{Notified, Notify};

/// Whether a side has ended, and who waits for it.
pub(crate) struct Closing {
    closed: AtomicBool,
    on_close: Notify,
}

impl Closing {
    pub(crate) fn new() -> Self {
        Closing { closed: AtomicBool::new(false), on_close: Notify::new() }
    }

    /// The side has ended; [`notify`](Self::notify) follows.
    pub(crate) fn mark(&self) {
        // Release: who sees the end sees what led to it.
        self.closed.store(true, Release);
    }

    /// Wakes who waits. Foreign code: not under a lock.
    pub(crate) fn notify(&self) {
        self.on_close.notify_waiters();
    }

    pub(crate) fn is_set(&self) -> bool {
        // Acquire: what led to the end is visible.
        self.closed.load(Acquire)
    }

    #[track_caller]
    pub(crate) fn wait(&self) -> Closed<'_> {
        Closed { flag: &self.closed, notified: self.on_close.notified_as(WaitKind::Closed) }
    }
}

/// A wait for the end of the other side of a channel.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Closed<'a> {
    flag: &'a AtomicBool,
    notified: Notified<'a>,
}

impl Future for Closed<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Acquire: what led to the end is visible.
        if self.flag.load(Acquire) {
            return Poll::Ready(());
        }
        // SAFETY: the inner future is pinned with the whole, and never moved out of it. It was
        // made before the look at the flag, so an end that the look missed has notified it.
        unsafe { self.map_unchecked_mut(|closed| &mut closed.notified) }.poll(cx)
    }
}

/// Runs a closure when dropped: what must also happen if a waker panics.
pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
