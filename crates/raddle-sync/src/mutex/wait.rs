//! Waiting for the lock: a named future, borrowed or owned by what it holds the lock through.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::wait::{WaitKind, Waiter};

use super::guard::{Guard, Lockable};
use super::raw::Turn;

/// The future of [`Mutex::lock`](super::Mutex::lock) and
/// [`Mutex::lock_owned`](super::Mutex::lock_owned).
///
/// It contains the waiter's place in the queue, so it must be pinned to be polled and cannot be
/// moved after:
///
/// ```compile_fail,E0277
/// fn movable<T: Unpin>(_: T) {}
/// let lock = raddle_sync::Mutex::new(1);
/// movable(lock.lock());
/// ```
#[must_use = "futures do nothing unless awaited"]
pub struct Lock<R: Lockable> {
    lock: R,
    node: Waiter<Turn>,
}

impl<R: Lockable> Lock<R> {
    #[inline]
    #[track_caller]
    pub(crate) fn new(lock: R) -> Self {
        Lock { lock, node: Waiter::new(WaitKind::Lock, Turn::new()) }
    }
}

impl<R: Lockable> Future for Lock<R> {
    type Output = Guard<R>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        // SAFETY: the node is pinned with the future that owns it, used with this lock only, and
        // leaves when the future is dropped. When it is ready the lock was just taken.
        unsafe {
            let held = ready!(this.lock.raw().poll(Pin::new_unchecked(&this.node), cx));
            Poll::Ready(Guard::new(this.lock.clone(), held))
        }
    }
}

impl<R: Lockable> Drop for Lock<R> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `poll`; a future that was polled was pinned and did not move since.
        unsafe { self.lock.raw().leave(Pin::new_unchecked(&self.node)) };
    }
}

impl<R: Lockable> fmt::Debug for Lock<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").field("waiter", &self.node).finish_non_exhaustive()
    }
}
