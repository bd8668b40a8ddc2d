//! Waiting in a [`WaitMap`] for a value.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hash};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use raddle_base::context;
use raddle_base::wait::{Phase, Removed, WaitKind, Waiter};

use super::map::{CLOSED, Queue, Slot, WOKEN, WaitMap};
use crate::block_on::{block_on, wait_timeout};

impl<K: Hash + Eq, V, S: BuildHasher> WaitMap<K, V, S> {
    /// Waits for a value for `key`. Joins the queue at the first poll, or by
    /// [`enable`](WaitMapWait::enable).
    ///
    /// # Errors
    ///
    /// If the map is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the queue. A value that it was given and has not seen goes to the
    /// next who waits for the key, else it is dropped.
    #[track_caller]
    pub fn wait(&self, key: K) -> WaitMapWait<'_, K, V, S> {
        WaitMapWait { call: Call::new(self, self.place(&key), key) }
    }

    /// As [`wait`](Self::wait), with a reference of its own.
    #[track_caller]
    pub fn wait_owned(self: Arc<Self>, key: K) -> OwnedWaitMapWait<K, V, S> {
        let place = self.place(&key);
        OwnedWaitMapWait { call: Call::new(self, place, key) }
    }

    /// Blocks the thread as [`wait`](Self::wait) does the task.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`wait`](Self::wait) there.
    #[track_caller]
    pub fn blocking_wait(&self, key: K) -> Result<V, WaitMapClosed> {
        block_on(self.wait(key))
    }

    /// As [`blocking_wait`](Self::blocking_wait) for at most `limit`.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout(
        &self,
        key: K,
        limit: Duration,
    ) -> Option<Result<V, WaitMapClosed>> {
        wait_timeout(self.wait(key), limit)
    }
}

/// A reference to a map, borrowed or owned.
trait OfMap<K, V> {
    fn queue(&self, place: usize) -> &Queue<K, V>;
}

impl<K, V, S> OfMap<K, V> for &WaitMap<K, V, S> {
    fn queue(&self, place: usize) -> &Queue<K, V> {
        &self.queues[place]
    }
}

impl<K, V, S> OfMap<K, V> for Arc<WaitMap<K, V, S>> {
    fn queue(&self, place: usize) -> &Queue<K, V> {
        &self.queues[place]
    }
}

/// A wait in the queue of its key.
struct Call<R: OfMap<K, V>, K: Eq, V> {
    map: R,
    place: usize,
    node: Waiter<Slot<K, V>>,
}

impl<R: OfMap<K, V>, K: Eq, V> Call<R, K, V> {
    #[track_caller]
    fn new(map: R, place: usize, key: K) -> Self {
        Call { map, place, node: Waiter::new(WaitKind::Value, Slot { key, value: None }) }
    }

    /// Joins the queue; false if the map is closed.
    ///
    /// # Safety
    ///
    /// `node` is that of `self`, pinned and idle.
    unsafe fn enqueue(&self, node: Pin<&Waiter<Slot<K, V>>>, waker: Option<Waker>) -> bool {
        let mut queue = self.map.queue(self.place).lock();
        let is_open = !*queue.shared();
        if is_open {
            // SAFETY: passed on from the caller; the node leaves when its owner is dropped.
            unsafe { queue.push_back(node, waker) };
        }
        is_open
    }

    fn enable(self: Pin<&Self>) {
        let this = self.get_ref();
        // SAFETY: the node is pinned with the whole.
        let node = unsafe { Pin::new_unchecked(&this.node) };
        if node.phase() == Phase::Idle {
            // SAFETY: as above; the node is idle. On a closed map the first poll finds that out.
            let _ = unsafe { this.enqueue(node, None) };
        }
    }

    fn poll(self: Pin<&Self>, cx: &mut Context<'_>) -> Poll<Result<V, WaitMapClosed>> {
        ready!(context::check_budget(cx));
        let this = self.get_ref();
        // SAFETY: the node is pinned with the whole, used with this queue only, and leaves when the
        // future is dropped.
        let node = unsafe { Pin::new_unchecked(&this.node) };
        let outcome = match node.phase() {
            // Foreign code (the clone): before the lock.
            // SAFETY: as above; the node is idle.
            Phase::Idle => match unsafe { this.enqueue(node, Some(cx.waker().clone())) } {
                true => return Poll::Pending,
                false => CLOSED,
            },
            // SAFETY: as above; the node is not idle.
            _ => ready!(unsafe { this.map.queue(this.place).poll(node, cx) }),
        };
        context::spend();
        // SAFETY: the wait is over, so the payload is its owner's.
        let value = node.payload().with_mut(|slot| unsafe { (*slot).value.take() });
        Poll::Ready(value.filter(|_| outcome == WOKEN).ok_or(WaitMapClosed(())))
    }

    #[cold]
    fn leave(&self) {
        // SAFETY: called by the destructor; a future that was polled was pinned and did not move.
        let node = unsafe { Pin::new_unchecked(&self.node) };
        let mut queue = self.map.queue(self.place).lock();
        // SAFETY: the node was pushed to this queue or to none.
        let (waker, wake, value) = match unsafe { queue.remove(node) } {
            Removed::Waiting(waker) => (waker, None, None),
            Removed::Done(WOKEN) => {
                let (wake, value) = node.payload().with_mut(|slot| {
                    // SAFETY: the wait is over, so the payload is its owner's.
                    let slot = unsafe { &mut *slot };
                    let mut value = slot.value.take();
                    let key = &slot.key;
                    (queue.grant_where(|next| next.take_if(key, &mut value), WOKEN), value)
                });
                (None, wake, value)
            }
            Removed::Done(_) | Removed::Idle => (None, None, None),
        };
        drop(queue);
        // Foreign code: after the lock.
        if let Some(wake) = wake {
            wake.wake();
        }
        drop((waker, value));
    }
}

impl<R: OfMap<K, V>, K: Eq, V> Drop for Call<R, K, V> {
    fn drop(&mut self) {
        if self.node.phase() != Phase::Idle {
            self.leave();
        }
    }
}

/// The future of [`WaitMap::wait`]. Polled again after it was ready, it waits for another value.
#[must_use = "futures do nothing unless awaited"]
pub struct WaitMapWait<'a, K: Eq, V, S> {
    call: Call<&'a WaitMap<K, V, S>, K, V>,
}

/// The future of [`WaitMap::wait_owned`]. Polled again after it was ready, it waits for another
/// value.
#[must_use = "futures do nothing unless awaited"]
pub struct OwnedWaitMapWait<K: Eq, V, S> {
    call: Call<Arc<WaitMap<K, V, S>>, K, V>,
}

impl<K: Eq, V, S> WaitMapWait<'_, K, V, S> {
    /// Joins the queue without waiting, so that no later wake is missed.
    pub fn enable(self: Pin<&mut Self>) {
        // SAFETY: the only field is pinned with the whole, and not moved out of it.
        unsafe { self.into_ref().map_unchecked(|this| &this.call) }.enable();
    }
}

impl<K: Eq, V, S> OwnedWaitMapWait<K, V, S> {
    /// Joins the queue without waiting, so that no later wake is missed.
    pub fn enable(self: Pin<&mut Self>) {
        // SAFETY: as for `WaitMapWait`.
        unsafe { self.into_ref().map_unchecked(|this| &this.call) }.enable();
    }
}

impl<K: Eq, V, S> Future for WaitMapWait<'_, K, V, S> {
    type Output = Result<V, WaitMapClosed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: as in `enable`.
        unsafe { self.into_ref().map_unchecked(|this| &this.call) }.poll(cx)
    }
}

impl<K: Eq, V, S> Future for OwnedWaitMapWait<K, V, S> {
    type Output = Result<V, WaitMapClosed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: as in `enable`.
        unsafe { self.into_ref().map_unchecked(|this| &this.call) }.poll(cx)
    }
}

impl<K: Eq, V, S> fmt::Debug for WaitMapWait<'_, K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitMapWait").field(&self.call.node).finish()
    }
}

impl<K: Eq, V, S> fmt::Debug for OwnedWaitMapWait<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedWaitMapWait").field(&self.call.node).finish()
    }
}

/// The map is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitMapClosed(());

impl fmt::Display for WaitMapClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the map is closed")
    }
}

impl Error for WaitMapClosed {}
