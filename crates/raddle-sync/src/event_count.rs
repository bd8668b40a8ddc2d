//! An event count: "wait unless something has happened since I looked".
//!
//! # Question
//!
//! A condition lies in the user's own data, behind no lock of ours. How does a task wait for it to
//! change without missing a change between its look and its sleep, and without the one who makes
//! the change taking a lock while nobody waits?
//!
//! # States
//!
//! The value of the crowd (`crowd.rs`) is the epoch: how often somebody notified. It wraps after
//! 2⁶³ times.
//!
//! # Protocol
//!
//! *Wait*: take the epoch as a key; look at the condition; wait until the epoch differs from the
//! key. *Notify*: change the data; then count the epoch up and let one, some or all go. Those who
//! hold an older key and were not queued yet go as well, once, and look again.
//!
//! # Race
//!
//! The change comes between look and sleep. If its step on the epoch is before the key was taken,
//! the look sees the change, because taking the key acquires. If it is after, the key is old when
//! the wait compares it, or the notification finds the waiter queued: one exchange on one word
//! decides.
//!
//! # Proof
//!
//! As for the crowd; a notification is an exchange with release in every case, so it cannot pass
//! by unseen, and no fence is needed between the user's data and the epoch. A wait that was let go
//! alone and is dropped before it saw that hands over to the next in line. Models:
//! `model_event_count_notify_against_wait`, `model_event_count_one_against_cancel`.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::context;
use raddle_base::wait::{Phase, WaitKind, Waiter};

use crate::block_on::{block_on, wait_timeout};
use crate::crowd::stay::named_future;
use crate::crowd::{Crowd, Step};

/// The outcome of a wait that was let go alone, and that passes this on.
const ALONE: u8 = 2;

/// A moment at which somebody looked, from [`EventCount::key`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key(usize);

/// Lets tasks wait for a condition that lies elsewhere.
///
/// * *Use.* Take a [`key`](Self::key), look at the condition, [`wait`](Self::wait) with the key;
///   or let [`wait_until`](Self::wait_until) do that. Change the condition, then notify.
/// * *Wakes.* A wait may end without need, for a notification that came between key and wait; look
///   again. A notification is never missed.
/// * *Order.* Waits are served in the order of their first poll.
/// * *Ordering.* What happened before a notification is visible after a wait that it ended, and
///   after a key that was taken later.
/// * *Cost.* A notification is one exchange, and takes a lock only if somebody waits. Waiting does
///   not allocate. 24 bytes.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// use raddle_sync::EventCount;
///
/// static LEVEL: AtomicU32 = AtomicU32::new(0);
/// static CHANGED: EventCount = EventCount::new();
///
/// let other = std::thread::spawn(|| {
///     LEVEL.store(7, Relaxed);
///     CHANGED.notify_all();
/// });
/// let seven = || (LEVEL.load(Relaxed) == 7).then_some(7);
/// assert_eq!(CHANGED.blocking_wait_until(seven), 7);
/// # other.join().unwrap();
/// ```
#[derive(Debug)]
pub struct EventCount {
    crowd: Crowd,
}

impl EventCount {
    raddle_base::const_unless_loom! {
        /// Nothing has happened.
        pub const fn new() -> Self {
            EventCount { crowd: Crowd::new(0) }
        }
    }

    /// The present moment. Look at the condition after this.
    #[inline]
    pub fn key(&self) -> Key {
        Key(self.crowd.value())
    }

    /// Lets everybody go who waits, or holds a key already.
    pub fn notify_all(&self) {
        self.crowd.step(|epoch| Step::Release(next(epoch)));
    }

    /// Lets the one go who has waited longest, and those who hold a key and do not wait yet.
    pub fn notify_one(&self) {
        self.notify(1);
    }

    /// Lets `count` go, those who have waited longest, and those who hold a key and do not wait
    /// yet. Each call is for waits of its own: two calls for one each let two go.
    pub fn notify(&self, count: usize) {
        self.crowd.release_some(ALONE, count, next);
    }

    /// Waits for a notification, unless one has come since the key was taken.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses its place in the queue. Had it been let go by a notification for
    /// so many, the next in line goes in its place.
    #[track_caller]
    pub fn wait(&self, key: Key) -> EventCountWait<'_> {
        EventCountWait(Since::new(self, key))
    }

    /// As [`wait`](Self::wait), with a reference of its own.
    #[track_caller]
    pub fn wait_owned(self: Arc<Self>, key: Key) -> OwnedEventCountWait {
        OwnedEventCountWait(Since::new(self, key))
    }

    /// Waits until `condition` gives something, and gives that. It is asked at once, and again
    /// after each notification; it runs in the waiting task, under no lock.
    ///
    /// # Cancel safety
    ///
    /// As for [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_until<T, F: FnMut() -> Option<T>>(&self, condition: F) -> WaitUntil<'_, F> {
        WaitUntil { condition, since: Since::new(self, self.key()) }
    }

    /// Blocks the thread as [`wait`](Self::wait) does the task.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`wait`](Self::wait) there.
    #[track_caller]
    pub fn blocking_wait(&self, key: Key) {
        block_on(self.wait(key));
    }

    /// As [`blocking_wait`](Self::blocking_wait) for at most `limit`; whether a notification came.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout(&self, key: Key, limit: Duration) -> bool {
        wait_timeout(self.wait(key), limit).is_some()
    }

    /// Blocks the thread until `condition` gives something, and gives that.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`wait_until`](Self::wait_until) there.
    #[track_caller]
    pub fn blocking_wait_until<T>(&self, condition: impl FnMut() -> Option<T>) -> T {
        block_on(self.wait_until(condition))
    }

    /// As [`blocking_wait_until`](Self::blocking_wait_until) for at most `limit`.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait_until`](Self::blocking_wait_until).
    #[track_caller]
    pub fn blocking_wait_until_timeout<T>(
        &self,
        condition: impl FnMut() -> Option<T>,
        limit: Duration,
    ) -> Option<T> {
        wait_timeout(self.wait_until(condition), limit)
    }
}

impl Default for EventCount {
    fn default() -> Self {
        Self::new()
    }
}

fn next(epoch: usize) -> usize {
    if epoch == Crowd::MAX { 0 } else { epoch + 1 }
}

/// Waits until the epoch is not that of the key.
struct Since<R: Deref<Target = EventCount>> {
    of: R,
    key: Key,
    node: Waiter,
}

impl<R: Deref<Target = EventCount>> Since<R> {
    #[track_caller]
    fn new(of: R, key: Key) -> Self {
        Since { of, key, node: Waiter::new(WaitKind::Notification, ()) }
    }

    /// Polls the wait, for this key.
    ///
    /// # Safety
    ///
    /// `self` is pinned, and its destructor will run before it moves or its memory goes.
    unsafe fn poll_for(&self, key: Key, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: the node is pinned with the whole, used with this crowd only, and leaves when the
        // future is dropped.
        let node = unsafe { Pin::new_unchecked(&self.node) };
        // SAFETY: as above.
        unsafe { self.of.crowd.poll(node, cx, |epoch| epoch != key.0) }.map(drop)
    }
}

impl<R: Deref<Target = EventCount>> Future for Since<R> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.into_ref().get_ref();
        // SAFETY: pinned, and with a destructor.
        unsafe { this.poll_for(this.key, cx) }
    }
}

impl<R: Deref<Target = EventCount>> Drop for Since<R> {
    fn drop(&mut self) {
        match self.node.phase() {
            Phase::Idle => {}
            Phase::Done(outcome) => {
                if outcome == ALONE {
                    self.of.notify_one();
                }
            }
            Phase::Waiting => {
                // SAFETY: as in `poll_for`; a future that was polled was pinned and did not move.
                let node = unsafe { Pin::new_unchecked(&self.node) };
                // SAFETY: as above.
                if unsafe { self.of.crowd.leave_with(node, |epoch| epoch) } == Some(ALONE) {
                    self.of.notify_one();
                }
            }
        }
    }
}

impl<R: Deref<Target = EventCount>> fmt::Debug for Since<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Since").field("key", &self.key).field("node", &self.node).finish()
    }
}

named_future! {
    /// The future of [`EventCount::wait`].
    EventCountWait<'a> = Since<&'a EventCount> => ()
}

named_future! {
    /// The future of [`EventCount::wait_owned`].
    OwnedEventCountWait = Since<Arc<EventCount>> => ()
}

/// The future of [`EventCount::wait_until`].
#[must_use = "futures do nothing unless awaited"]
pub struct WaitUntil<'a, F> {
    condition: F,
    /// Pinned. Its key is that of the last look.
    since: Since<&'a EventCount>,
}

impl<T, F: FnMut() -> Option<T>> Future for WaitUntil<'_, F> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // SAFETY: the node in `since` is pinned with the whole, and not moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        ready!(context::check_budget(cx));
        loop {
            if this.since.node.phase() == Phase::Idle {
                this.since.key = this.since.of.key();
                if let Some(found) = (this.condition)() {
                    context::spend();
                    return Poll::Ready(found);
                }
            }
            // SAFETY: pinned, and with a destructor.
            ready!(unsafe { this.since.poll_for(this.since.key, cx) });
        }
    }
}

impl<F> fmt::Debug for WaitUntil<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitUntil").field(&self.since).finish()
    }
}

#[cfg(all(test, loom))]
#[path = "tests/event_count_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/event_count.rs"]
mod tests;
