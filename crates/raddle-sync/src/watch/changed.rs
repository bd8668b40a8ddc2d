//! Waiting for a change: for any, for one that fulfils a condition, for a clone of the next.
//!
//! Each of these futures holds a node in the channel's queue, and leaves it when dropped; a wait
//! that was released has nothing to hand on, since all were.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::wait::{WaitKind, Waiter};

use super::error::RecvError;
use super::guard::Ref;
use super::shared::Shared;

/// A place in the queue, and what was seen.
struct News<'a, T> {
    shared: &'a Shared<T>,
    seen: &'a mut u64,
    node: Waiter,
}

impl<'a, T> News<'a, T> {
    #[inline]
    #[track_caller]
    fn new(shared: &'a Shared<T>, seen: &'a mut u64) -> Self {
        News { shared, seen, node: Waiter::new(WaitKind::Value, ()) }
    }

    /// The version of the next value, not marked as seen yet.
    ///
    /// # Safety
    ///
    /// `self` is pinned.
    #[inline]
    unsafe fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<u64, RecvError>> {
        // SAFETY: the node is pinned with the whole, used with this channel only, and leaves when
        // this is dropped.
        unsafe { self.shared.poll_news(Pin::new_unchecked(&self.node), *self.seen, cx) }
    }
}

impl<T> Drop for News<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `poll`; what was polled was pinned and did not move since.
        unsafe { self.shared.leave(Pin::new_unchecked(&self.node)) };
    }
}

impl<T> fmt::Debug for News<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("News").field(&self.node).finish()
    }
}

/// The future of [`Receiver::changed`](super::Receiver::changed).
///
/// It contains the waiter's place in the queue, so it must be pinned to be polled and cannot be
/// moved after:
///
/// ```compile_fail,E0277
/// fn movable<T: Unpin>(_: T) {}
/// let (_tx, mut rx) = raddle_sync::watch::channel(1);
/// movable(rx.changed());
/// ```
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Changed<'a, T>(News<'a, T>);

impl<'a, T> Changed<'a, T> {
    #[inline]
    #[track_caller]
    pub(super) fn new(shared: &'a Shared<T>, seen: &'a mut u64) -> Self {
        Changed(News::new(shared, seen))
    }
}

impl<T> Future for Changed<'_, T> {
    type Output = Result<(), RecvError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: pinned, and the reference to what was seen is no part of the node.
        let version = ready!(unsafe { self.0.poll(cx) })?;
        // SAFETY: nothing is moved out; `seen` is not pinned.
        *unsafe { self.get_unchecked_mut() }.0.seen = version;
        Poll::Ready(Ok(()))
    }
}

/// The future of [`Receiver::recv`](super::Receiver::recv).
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Recv<'a, T>(News<'a, T>);

impl<'a, T> Recv<'a, T> {
    #[track_caller]
    pub(super) fn new(shared: &'a Shared<T>, seen: &'a mut u64) -> Self {
        Recv(News::new(shared, seen))
    }
}

impl<T: Clone> Future for Recv<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: pinned, as above.
        ready!(unsafe { self.0.poll(cx) })?;
        let reading = self.0.shared.read_at(self.0.node.site().location);
        // Foreign code, with nothing but the value locked. If it panics, nothing was seen.
        let (value, version) = (reading.value().clone(), reading.version);
        drop(reading);
        // SAFETY: nothing is moved out; `seen` is not pinned.
        *unsafe { self.get_unchecked_mut() }.0.seen = version;
        Poll::Ready(Ok(value))
    }
}

/// The future of [`Receiver::wait_for`](super::Receiver::wait_for).
#[must_use = "futures do nothing unless awaited"]
pub struct WaitFor<'a, T, F> {
    news: News<'a, T>,
    condition: F,
}

impl<'a, T, F: FnMut(&T) -> bool> WaitFor<'a, T, F> {
    #[track_caller]
    pub(super) fn new(shared: &'a Shared<T>, seen: &'a mut u64, condition: F) -> Self {
        WaitFor { news: News::new(shared, seen), condition }
    }
}

impl<'a, T, F: FnMut(&T) -> bool> Future for WaitFor<'a, T, F> {
    type Output = Result<Ref<'a, T>, RecvError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the node is not moved out of it, and nothing else is pinned.
        let this = unsafe { self.get_unchecked_mut() };
        let shared: &'a Shared<T> = this.news.shared;
        // SAFETY: as in `News::poll`.
        let node = unsafe { Pin::new_unchecked(&this.news.node) };
        loop {
            ready!(context::check_budget(cx));
            // SAFETY: as in `News::poll`.
            if unsafe { shared.is_queued(node, cx) } {
                return Poll::Pending;
            }
            context::spend();
            // Before the value: at the end, it is the last one.
            let ended = shared.is_ended();
            let reading = shared.read_at(this.news.node.site().location);
            let value = Ref::new(reading, *this.news.seen);
            let fulfilled = (this.condition)(&value);
            *this.news.seen = value.version();
            if fulfilled {
                return Poll::Ready(Ok(value));
            }
            drop(value);
            if ended {
                return Poll::Ready(Err(RecvError));
            }
            // SAFETY: as in `News::poll`; the node is idle.
            let news = unsafe { shared.enqueue(node, *this.news.seen, cx) };
            // A later value, or the end: looked at from the start.
            let _ = ready!(news);
        }
    }
}

impl<T, F> fmt::Debug for WaitFor<'_, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitFor").field(&self.news).finish()
    }
}
