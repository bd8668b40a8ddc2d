//! A task tracker: counts the tasks that are alive, and ends when it is closed and there are none.
//!
//! A face of the crowd in `crowd.rs`, where protocol and proof are. The value is twice the number
//! of tokens, plus one while the tracker is closed; a wait is over at exactly one.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use raddle_base::wait::WaitKind;

use crate::block_on::{block_on, wait_timeout};
use crate::crowd::stay::{Gather, Stay, named_future};
use crate::crowd::{Crowd, Step};

const CLOSED: usize = 1;
const TOKEN: usize = 2;

/// Waits for many tasks, without keeping anything of those that have ended.
///
/// [`wait`](Self::wait) ends when the tracker is closed and no token is alive. Closing does not
/// keep new tokens from being made; it says that the wait may end. A tracker can be reopened.
/// Clones are the same tracker.
///
/// * *Order.* All waits end in one round, woken in the order of their first poll. A wait that was
///   let go stays so, though the tracker is reopened before it is polled.
/// * *Ordering.* What happened before a token was dropped is visible after the wait.
/// * *Cost.* Making a tracker allocates once. Tokens cost one exchange to make and one to drop.
///   Waiting does not allocate, nor does [`track_future`](Self::track_future).
///
/// ```
/// use raddle_sync::{TaskTracker, block_on};
///
/// let tracker = TaskTracker::new();
/// for _ in 0..4 {
///     let work = tracker.track_future(async {});
///     std::thread::spawn(move || block_on(work));
/// }
/// tracker.close();
/// block_on(tracker.wait());
/// assert!(tracker.is_empty());
/// ```
#[derive(Clone)]
pub struct TaskTracker {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    crowd: Crowd,
}

impl Gather for Inner {
    fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    fn is_over(value: usize) -> bool {
        value == CLOSED
    }
}

impl TaskTracker {
    /// An open tracker without tokens.
    pub fn new() -> Self {
        TaskTracker { inner: Arc::new(Inner { crowd: Crowd::new(0) }) }
    }

    /// Lets waits end as soon as no token is alive. True if the tracker was open.
    pub fn close(&self) -> bool {
        let close = |value| match value {
            0 => Step::Release(CLOSED),
            value if value & CLOSED != 0 => Step::Keep,
            value => Step::To(value | CLOSED),
        };
        self.inner.crowd.step(close) & CLOSED == 0
    }

    /// Makes waits that begin now go on until the tracker is closed again. True if it was closed.
    pub fn reopen(&self) -> bool {
        let reopen = |value| match value & CLOSED {
            0 => Step::Keep,
            _ => Step::To(value & !CLOSED),
        };
        self.inner.crowd.step(reopen) & CLOSED != 0
    }

    /// Whether the tracker is closed.
    pub fn is_closed(&self) -> bool {
        self.inner.crowd.value() & CLOSED != 0
    }

    /// How many tokens are alive.
    pub fn len(&self) -> usize {
        self.inner.crowd.value() / TOKEN
    }

    /// Whether no token is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A token: one task more, until it is dropped.
    pub fn token(&self) -> TaskTrackerToken {
        // The count cannot overflow: every token holds a count of the `Arc` as well.
        self.inner.crowd.step(|value| Step::To(value + TOKEN));
        TaskTrackerToken { tracker: self.clone() }
    }

    /// A future that holds a token until it was dropped. To be spawned on whatever runtime.
    pub fn track_future<F: Future>(&self, future: F) -> TrackedFuture<F> {
        TrackedFuture { future, token: self.token() }
    }

    /// Waits until the tracker is closed and no token is alive.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but its place in the order of wakes.
    #[track_caller]
    pub fn wait(&self) -> TaskTrackerWait<'_> {
        TaskTrackerWait(Stay::new(&self.inner, WaitKind::Join))
    }

    /// As [`wait`](Self::wait), with a reference of its own.
    #[track_caller]
    pub fn wait_owned(self) -> OwnedTaskTrackerWait {
        OwnedTaskTrackerWait(Stay::new(self.inner, WaitKind::Join))
    }

    /// Blocks the thread until the tracker is closed and no token is alive.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`wait`](Self::wait) there.
    #[track_caller]
    pub fn blocking_wait(&self) {
        block_on(self.wait());
    }

    /// As [`blocking_wait`](Self::blocking_wait) for at most `limit`; whether it came true.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout(&self, limit: Duration) -> bool {
        wait_timeout(self.wait(), limit).is_some()
    }

    /// Whether these are clones of one tracker.
    pub fn ptr_eq(left: &Self, right: &Self) -> bool {
        Arc::ptr_eq(&left.inner, &right.inner)
    }
}

impl Default for TaskTracker {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TaskTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskTracker")
            .field("len", &self.len())
            .field("is_closed", &self.is_closed())
            .finish()
    }
}

/// One task, for its [`TaskTracker`].
#[derive(Debug)]
#[must_use = "the task is over as soon as this is dropped"]
pub struct TaskTrackerToken {
    tracker: TaskTracker,
}

impl TaskTrackerToken {
    /// The tracker it belongs to.
    pub fn task_tracker(&self) -> &TaskTracker {
        &self.tracker
    }
}

impl Clone for TaskTrackerToken {
    /// One task more.
    fn clone(&self) -> Self {
        self.tracker.token()
    }
}

impl Drop for TaskTrackerToken {
    fn drop(&mut self) {
        self.tracker.inner.crowd.step(|value| match value - TOKEN {
            CLOSED => Step::Release(CLOSED),
            left => Step::To(left),
        });
    }
}

/// The future of [`TaskTracker::track_future`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct TrackedFuture<F> {
    /// Pinned, and dropped before the token.
    future: F,
    token: TaskTrackerToken,
}

impl<F> TrackedFuture<F> {
    /// The token it holds.
    pub fn token(&self) -> &TaskTrackerToken {
        &self.token
    }
}

impl<F: Future> Future for TrackedFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is pinned with the whole, and not moved out of it.
        unsafe { self.map_unchecked_mut(|this| &mut this.future) }.poll(cx)
    }
}

named_future! {
    /// The future of [`TaskTracker::wait`].
    TaskTrackerWait<'a> = Stay<&'a Inner> => ()
}

named_future! {
    /// The future of [`TaskTracker::wait_owned`].
    OwnedTaskTrackerWait = Stay<Arc<Inner>> => ()
}

#[cfg(all(test, not(loom)))]
#[path = "tests/tracker.rs"]
mod tests;
