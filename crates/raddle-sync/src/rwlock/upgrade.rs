//! From reading to writing without anybody writing in between.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::wait::{WaitKind, Waiter};

use super::guard::{Hold, UpgradableGuard, WriteGuard};
use super::word::Kind;
use crate::block_on::block_on;

impl<H: Hold, T: ?Sized> UpgradableGuard<H, T> {
    /// Waits until the other readers are gone, and writes: nobody else writes in between, and no
    /// new reader comes in.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future releases the lock.
    #[track_caller]
    pub fn upgrade(this: Self) -> Upgrade<H, T> {
        Upgrade::new(this)
    }

    /// As [`upgrade`](Self::upgrade), blocking this thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`upgrade`](Self::upgrade) there.
    #[track_caller]
    pub fn blocking_upgrade(this: Self) -> WriteGuard<H, T> {
        block_on(Self::upgrade(this))
    }
}

/// The future of [`UpgradableGuard::upgrade`]. It holds the lock for reading meanwhile; dropping it
/// releases the lock.
#[must_use = "futures do nothing unless awaited"]
pub struct Upgrade<H: Hold, T: ?Sized> {
    /// Taken when the upgrade is done.
    guard: Option<UpgradableGuard<H, T>>,
    node: Waiter<Kind>,
}

impl<H: Hold, T: ?Sized> Upgrade<H, T> {
    #[track_caller]
    pub(super) fn new(guard: UpgradableGuard<H, T>) -> Self {
        let node = Waiter::new(WaitKind::Lock, Kind::Upgrade);
        Upgrade { guard: Some(guard), node }
    }
}

impl<H: Hold, T: ?Sized> Future for Upgrade<H, T> {
    type Output = WriteGuard<H, T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the node is not moved, and no exclusive reference to it is made; the guard is
        // not pinned with the whole.
        let this = unsafe { self.get_unchecked_mut() };
        let guard = this.guard.as_ref().expect("an upgrade was polled after its end");
        // SAFETY: the node is pinned with the future that owns it, used with this lock and kind
        // only, and leaves when the future is dropped.
        let polled = unsafe { guard.raw().poll(Pin::new_unchecked(&this.node), Kind::Upgrade, cx) };
        ready!(polled);
        let guard = this.guard.take().expect("it was there above");
        Poll::Ready(guard.into_write())
    }
}

impl<H: Hold, T: ?Sized> Drop for Upgrade<H, T> {
    fn drop(&mut self) {
        let Some(guard) = self.guard.take() else { return };
        // SAFETY: as in `poll`; a future that was polled was pinned and did not move since.
        let granted = unsafe { guard.raw().leave(Pin::new_unchecked(&self.node), Kind::Upgrade) };
        match granted {
            true => drop(guard.into_write()),
            false => drop(guard),
        }
    }
}

impl<H: Hold, T: ?Sized> fmt::Debug for Upgrade<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upgrade").field("waiter", &self.node).finish_non_exhaustive()
    }
}
