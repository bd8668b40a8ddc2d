//! A condition variable for [`Mutex`](crate::Mutex): wait until something under the lock changes.
//!
//! # Question
//!
//! A task holds a mutex, does not find what it needs, and wants to sleep until somebody changes
//! it. How does it release the mutex and go to sleep so that no notification falls between, and
//! what becomes of a notification whose receiver gives up?
//!
//! # States
//!
//! A wait goes through three stages: *holding* the guard (not polled yet), *waiting* in this queue
//! with the mutex released, *locking* the mutex again after it was chosen. The word beside the
//! queue's lock says whether somebody waits; under the lock lies the address of the mutex that
//! those who wait belong to.
//!
//! # Protocol
//!
//! *Wait*: lock the queue, push, then release the mutex. *Notify*: with nobody waiting, one load;
//! else grant the head, or all. *Give up*: a wait that was chosen by `notify_one` and has not got
//! the mutex back chooses another in its place.
//!
//! # Race
//!
//! *A notification against going to sleep*: the waiter is queued before it releases the mutex. Who
//! changes the condition holds the mutex after that, so its notification finds the waiter.
//!
//! # Proof
//!
//! The word is written under the lock, and a notifier that must see a waiter has taken the mutex
//! after that waiter released it, which orders its load after the write. What was done under the
//! mutex is published by the mutex. Models: `model_condvar_notify_against_wait`,
//! `model_condvar_cancel_passes_on`.
//!
//! # Why waiters are not moved to the mutex's queue
//!
//! A thread that is woken while the notifier still holds the mutex runs into it at once, and so
//! threads profit when the wake is turned into a place in the mutex's queue. A task that is woken
//! runs when its executor comes to it, mostly after the notifier's poll, which is when the guard
//! is gone: of 1,000 waiters notified under the mutex and polled one after the other, each takes
//! one poll to have the mutex (the test `a_notified_crowd_takes_one_poll_each` counts), as many as
//! with the move, and the move would take both locks for each.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::context;
use raddle_base::shim::atomic::Ordering::Relaxed;
use raddle_base::wait::{Locked, Phase, Removed, WaitKind, WaitQueue, Waiter};

use crate::block_on::{block_on, wait_until};
use crate::mutex::{Guard, Lock, Lockable};

const WAITERS: u32 = 1;

/// Outcomes of a wait: chosen alone, or with all others.
const ONE: u8 = 1;
const ALL: u8 = 2;

/// Lets tasks that hold a [`Mutex`](crate::Mutex) wait until another one changes what it protects.
///
/// Notifications are not stored. Waiters are chosen first come first served, from their first poll
/// on, and lock the mutex again as anybody does. There are no spurious wake-ups, but others may
/// come first: check the condition again, or use [`wait_while`](Self::wait_while).
///
/// With nobody waiting a notification is one load. Waiting does not allocate. 24 bytes.
///
/// All who wait at one time must use one mutex: another one is refused with a panic.
///
/// ```
/// use raddle_sync::{Condvar, Mutex, block_on};
///
/// static ITEMS: Mutex<Vec<u32>> = Mutex::new(Vec::new());
/// static ADDED: Condvar = Condvar::new();
///
/// std::thread::spawn(|| {
///     ITEMS.blocking_lock().push(7);
///     ADDED.notify_one();
/// });
/// block_on(async {
///     let guard = ITEMS.lock().await;
///     let mut guard = ADDED.wait_while(guard, |items| items.is_empty()).await;
///     assert_eq!(guard.pop(), Some(7));
/// });
/// ```
pub struct Condvar {
    /// Under the lock: the address of the mutex, while somebody waits.
    queue: WaitQueue<(), usize>,
}

impl Condvar {
    raddle_base::const_unless_loom! {
        /// A condition that nobody waits for.
        pub const fn new() -> Self {
            Condvar { queue: WaitQueue::new(0) }
        }
    }

    /// Releases the mutex, waits to be notified, and locks the mutex again.
    ///
    /// The guard may be borrowed or owned; the same kind comes back. It is released at the first
    /// poll.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the wait, and leaves the mutex released. A single notification
    /// that had chosen it passes on to another waiter; without one it is lost, as any notification
    /// without a waiter is.
    ///
    /// # Panics
    ///
    /// When polled while others wait with another mutex.
    #[track_caller]
    pub fn wait<R: Lockable>(&self, guard: Guard<R>) -> CondvarWait<'_, R> {
        let lock = Lock::new(Guard::mutex(&guard).clone());
        let node = Waiter::new(WaitKind::Notification, ());
        CondvarWait { condvar: self, stage: Stage::Holding(guard), lock, node }
    }

    /// Waits as long as `condition` holds, looking at it under the mutex: at once, and after each
    /// notification. See [`wait`](Self::wait).
    ///
    /// # Panics
    ///
    /// As for [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_while<R, F>(&self, guard: Guard<R>, condition: F) -> CondvarWaitWhile<'_, R, F>
    where
        R: Lockable,
        F: FnMut(&mut R::Value) -> bool,
    {
        CondvarWaitWhile { wait: self.wait(guard), condition }
    }

    /// As [`wait`](Self::wait), blocking this thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task, and as for [`wait`](Self::wait).
    #[track_caller]
    pub fn blocking_wait<R: Lockable>(&self, guard: Guard<R>) -> Guard<R> {
        block_on(self.wait(guard))
    }

    /// As [`blocking_wait`](Self::blocking_wait), for at most `limit`, not counting the time it
    /// takes to lock the mutex again; the second value tells whether the limit ended it.
    ///
    /// # Panics
    ///
    /// As for [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout<R: Lockable>(
        &self,
        guard: Guard<R>,
        limit: Duration,
    ) -> (Guard<R>, bool) {
        let deadline = Instant::now() + limit;
        self.blocking_wait_while_until(guard, deadline, |first, _| std::mem::take(first))
    }

    /// As [`wait_while`](Self::wait_while), blocking this thread for at most `limit`, not counting
    /// the time it takes to lock the mutex again; the second value tells whether the condition
    /// still held at the end.
    ///
    /// # Panics
    ///
    /// As for [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_while_timeout<R: Lockable>(
        &self,
        guard: Guard<R>,
        limit: Duration,
        mut condition: impl FnMut(&mut R::Value) -> bool,
    ) -> (Guard<R>, bool) {
        let deadline = Instant::now() + limit;
        self.blocking_wait_while_until(guard, deadline, |_, value| condition(value))
    }

    #[track_caller]
    fn blocking_wait_while_until<R: Lockable>(
        &self,
        guard: Guard<R>,
        deadline: Instant,
        mut condition: impl FnMut(&mut bool, &mut R::Value) -> bool,
    ) -> (Guard<R>, bool) {
        let lock = Guard::mutex(&guard).clone();
        let mut first = true;
        let wait = self.wait_while(guard, |value| condition(&mut first, value));
        if let Some(guard) = wait_until(wait, deadline) {
            return (guard, false);
        }
        let mut guard = block_on(Lock::new(lock));
        let still = condition(&mut true, &mut guard);
        (guard, still)
    }

    /// Chooses the one who has waited longest, if somebody waits.
    #[inline]
    pub fn notify_one(&self) {
        if self.has_waiters() {
            self.choose_one();
        }
    }

    /// Chooses all who wait now.
    #[inline]
    pub fn notify_all(&self) {
        if self.has_waiters() {
            self.choose_all();
        }
    }

    /// Relaxed: a notifier that must not miss a waiter has taken the mutex after it, which orders
    /// this load after the store. See the proof above.
    #[inline]
    fn has_waiters(&self) -> bool {
        self.queue.word().load(Relaxed) != 0
    }

    #[cold]
    fn choose_one(&self) {
        let mut queue = self.queue.lock();
        let wake = queue.grant_front(ONE);
        self.settle(&queue);
        drop(queue);
        if let Some(wake) = wake {
            wake.wake();
        }
    }

    #[cold]
    fn choose_all(&self) {
        let queue = self.queue.lock();
        // Relaxed: as in `has_waiters`; written under the lock only.
        self.queue.word().store(0, Relaxed);
        queue.release_all(ALL);
    }

    fn settle(&self, queue: &Locked<'_, (), usize>) {
        if queue.is_empty() {
            // Relaxed: as in `choose_all`.
            self.queue.word().store(0, Relaxed);
        }
    }

    /// Queues a waiter that holds the mutex at `mutex`.
    ///
    /// # Safety
    ///
    /// The caller owns the idle node, and calls [`leave`](Self::leave) before it goes away.
    unsafe fn join(&self, node: Pin<&Waiter>, mutex: usize, cx: &mut Context<'_>) {
        // Foreign code: before the lock. Dropped after it, if this panics.
        let waker = cx.waker().clone();
        let mut queue = self.queue.lock();
        if !queue.is_empty() && *queue.shared() != mutex {
            drop(queue);
            panic!("a condition variable was used with two mutexes at a time");
        }
        *queue.shared() = mutex;
        // Relaxed: as in `choose_all`.
        self.queue.word().store(WAITERS, Relaxed);
        // SAFETY: passed on from the caller.
        unsafe { queue.push_back(node, Some(waker)) };
    }

    /// Ends a wait before its node goes away. True if it had been chosen alone.
    ///
    /// # Safety
    ///
    /// The caller owns the node, which was used with this condition variable only.
    unsafe fn leave(&self, node: Pin<&Waiter>) -> bool {
        if node.phase() == Phase::Idle {
            return false;
        }
        let mut queue = self.queue.lock();
        // SAFETY: passed on from the caller.
        let removed = unsafe { queue.remove(node) };
        self.settle(&queue);
        drop(queue);
        // Foreign code: the waker is dropped here, after the lock.
        matches!(removed, Removed::Done(ONE))
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").field("waiters", &self.has_waiters()).finish()
    }
}

enum Stage<R: Lockable> {
    Holding(Guard<R>),
    Waiting,
    /// Chosen, and how.
    Locking(u8),
    /// The guard was given out.
    Over,
}

/// The future of [`Condvar::wait`].
#[must_use = "futures do nothing unless awaited"]
pub struct CondvarWait<'c, R: Lockable> {
    condvar: &'c Condvar,
    stage: Stage<R>,
    /// Not polled before the last stage.
    lock: Lock<R>,
    node: Waiter,
}

impl<R: Lockable> CondvarWait<'_, R> {
    /// One poll of the wait; the guard is left in `stage` when it is over.
    fn poll_stage(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        ready!(context::check_budget(cx));
        // SAFETY: `node` and `lock` are pinned with the whole and not moved out of it; `stage` is
        // not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above. The node is used with this condition variable only, and leaves when
        // the future is dropped.
        let node = unsafe { Pin::new_unchecked(&this.node) };
        if let Stage::Holding(guard) = &this.stage {
            let mutex = Guard::address(guard);
            // SAFETY: as above; the node is idle while the guard is held.
            unsafe { this.condvar.join(node, mutex, cx) };
            // Releases the mutex, which may wake another: foreign code, after the node is queued.
            this.stage = Stage::Waiting;
            return Poll::Pending;
        }
        assert!(!matches!(this.stage, Stage::Over), "a wait was polled after its end");
        if let Stage::Waiting = this.stage {
            // SAFETY: as above; the node was queued when the guard was released.
            let chosen = ready!(unsafe { this.condvar.queue.poll(node, cx) });
            this.stage = Stage::Locking(chosen);
        }
        // SAFETY: as above.
        let guard = ready!(unsafe { Pin::new_unchecked(&mut this.lock) }.poll(cx));
        this.stage = Stage::Holding(guard);
        Poll::Ready(())
    }

    /// Takes the guard out at the end of a wait.
    fn take(self: Pin<&mut Self>) -> Option<Guard<R>> {
        // SAFETY: `stage` is not pinned.
        let stage = unsafe { &mut self.get_unchecked_mut().stage };
        match std::mem::replace(stage, Stage::Over) {
            Stage::Holding(guard) => Some(guard),
            Stage::Waiting | Stage::Locking(_) | Stage::Over => None,
        }
    }
}

impl<R: Lockable> Future for CondvarWait<'_, R> {
    type Output = Guard<R>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Guard<R>> {
        ready!(self.as_mut().poll_stage(cx));
        Poll::Ready(self.take().expect("a wait that is over holds the guard"))
    }
}

impl<R: Lockable> Drop for CondvarWait<'_, R> {
    fn drop(&mut self) {
        // SAFETY: as in `poll_stage`; a future that was polled was pinned and did not move since.
        let chosen = unsafe { self.condvar.leave(Pin::new_unchecked(&self.node)) };
        if chosen || matches!(self.stage, Stage::Locking(ONE)) {
            self.condvar.notify_one();
        }
    }
}

impl<R: Lockable> fmt::Debug for CondvarWait<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CondvarWait").field("waiter", &self.node).finish_non_exhaustive()
    }
}

/// The future of [`Condvar::wait_while`].
#[must_use = "futures do nothing unless awaited"]
pub struct CondvarWaitWhile<'c, R: Lockable, F> {
    wait: CondvarWait<'c, R>,
    condition: F,
}

impl<R: Lockable, F: FnMut(&mut R::Value) -> bool> Future for CondvarWaitWhile<'_, R, F> {
    type Output = Guard<R>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Guard<R>> {
        // SAFETY: `wait` is pinned with the whole and not moved out of it; `condition` is not
        // pinned.
        let this = unsafe { self.get_unchecked_mut() };
        loop {
            if let Stage::Holding(guard) = &mut this.wait.stage
                && !(this.condition)(guard)
            {
                // SAFETY: as above.
                let guard = unsafe { Pin::new_unchecked(&mut this.wait) }.take();
                return Poll::Ready(guard.expect("it was there above"));
            }
            // SAFETY: as above.
            ready!(unsafe { Pin::new_unchecked(&mut this.wait) }.poll_stage(cx));
        }
    }
}

impl<R: Lockable, F> fmt::Debug for CondvarWaitWhile<'_, R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CondvarWaitWhile").field("wait", &self.wait).finish_non_exhaustive()
    }
}

#[cfg(all(test, loom))]
#[path = "tests/condvar_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/condvar.rs"]
mod tests;
