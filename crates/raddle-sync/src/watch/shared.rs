//! What the ends of a watch channel share: the value, its version, and who waits for the next.
//!
//! # Question
//!
//! Values are overwritten, and receivers come when they like. How does a receiver know with one
//! load whether there is something it has not seen, how does a send miss nobody who goes to sleep
//! at that moment, and how is the last value seen before the end of the channel?
//!
//! # States
//!
//! | bits of the version | field |
//! |---|---|
//! | 0 | ENDED: no sender is left |
//! | 1.. | updates so far; 63 bits, so that it never comes round |
//!
//! A receiver remembers a version, which is even: what it has seen last, or NEVER, which is odd
//! and equal to none.
//!
//! | version against the remembered one | the receiver finds |
//! |---|---|
//! | another number, ENDED or not | a change |
//! | the same, ENDED | the end |
//! | the same | nothing yet |
//!
//! # Protocol
//!
//! *Update*: take the value's lock (`lock.rs`) for writing; change the value; add to the version;
//! free the lock. If that shows WAITERS, lock the queue, clear WAITERS, release all. *Look*: one
//! load of the version. *Wait*: look; lock the queue; set WAITERS; look again; push. *Give up*:
//! leave the queue; the last one clears WAITERS. *End*: lock the queue; set ENDED; release all.
//!
//! # Race
//!
//! *Update against going to sleep*: freeing the value's lock and setting WAITERS change one word.
//! If the update is first, the second look finds its version; if the waiter is first, the update
//! sees WAITERS and takes the lock under which the waiter is pushed. *Update against look and
//! borrow*: a version is read with the value under its lock where both are wanted, so a receiver
//! never marks a value as seen that it did not see.
//!
//! *The last update against the end*: ENDED is in the same word as the number, and is set by the
//! last sender, after the updates of all: one load shows both.
//!
//! # Proof
//!
//! WAITERS is set and cleared under the queue's lock only, and is set while the queue is not empty.
//! The version changes under the value's lock, but for ENDED, which is set when there is no sender
//! to take it. An update stores the version with release, and a look acquires. Models:
//! `model_watch_send_against_changed`, `model_watch_send_before_look`,
//! `model_watch_last_value_before_the_end`, `model_watch_give_up_against_send`,
//! `model_watch_borrow_against_send`.

use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::shim::atomic::AtomicU64;
use raddle_base::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use raddle_base::shim::cell::UnsafeCell;
use raddle_base::wait::{Phase, Removed, WaitKind, WaitQueue, WaitSite, Waiter};

use super::error::RecvError;
use super::lock::ValueLock;
use crate::audience::Audience;
use crate::ends::{Count, Counted, Senders};
use crate::owner::{self, Held};

const ENDED: u64 = 1;
const UPDATE: u64 = 2;

/// The version of a receiver that has seen nothing.
pub(super) const NEVER: u64 = u64::MAX;

/// The one outcome of a wait: look.
const LOOK: u8 = 1;

pub(crate) struct Shared<T> {
    version: AtomicU64,
    lock: ValueLock,
    /// Read by who holds the lock for reading, changed by who holds it for writing.
    value: UnsafeCell<T>,
    queue: WaitQueue,
    pub(super) senders: Count,
    pub(super) audience: Audience,
}

// SAFETY: the value crosses threads with this, and by it.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: guards on several threads give out shared references to the value at once, and senders
// on any thread replace it.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

// A panic under the lock for writing is that of a caller's closure, and leaves what it left: as
// documented where closures are taken.
impl<T: UnwindSafe> UnwindSafe for Shared<T> {}
impl<T: RefUnwindSafe> RefUnwindSafe for Shared<T> {}

impl<T> Shared<T> {
    /// With one sender.
    pub(super) fn new(value: T, receivers: usize) -> Self {
        Shared {
            version: AtomicU64::new(0),
            lock: ValueLock::new(),
            value: UnsafeCell::new(value),
            queue: WaitQueue::new(()),
            senders: Count::new(),
            audience: Audience::new(receivers),
        }
    }

    /// What the debug check of owners knows this by.
    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// The version now. What happened before that update is visible.
    #[inline]
    pub(super) fn version(&self) -> u64 {
        // Acquire: pairs with the release of the update.
        self.version.load(Acquire) & !ENDED
    }

    #[inline]
    pub(super) fn is_ended(&self) -> bool {
        // Acquire: what the last sender did is visible, its last update, too.
        self.version.load(Acquire) & ENDED != 0
    }

    /// The version, if it is not the one that was seen; an error at the end.
    #[inline]
    pub(super) fn news(&self, seen: u64) -> Option<Result<u64, RecvError>> {
        // Acquire: pairs with the release of the update, and of the end.
        let version = self.version.load(Acquire);
        if version & !ENDED != seen {
            return Some(Ok(version & !ENDED));
        }
        (version & ENDED != 0).then_some(Err(RecvError))
    }

    /// Enters for reading. Blocks the thread while somebody writes.
    #[inline]
    #[track_caller]
    pub(super) fn read(&self) -> Reading<'_, T> {
        self.read_at(Location::caller())
    }

    /// The same, on behalf of who waits at that place.
    #[inline]
    pub(super) fn read_at(&self, place: &'static Location<'static>) -> Reading<'_, T> {
        let site = || WaitSite { kind: WaitKind::SharedLock, location: place };
        self.lock.read(|| owner::waits(self.address(), site(), 0));
        // Relaxed: changed under the lock only, which is held.
        let version = self.version.load(Relaxed) & !ENDED;
        Reading { shared: self, version, _held: Held::new(self.address(), place) }
    }

    /// Changes the value by `f`, which tells whether it did, and lets those know who wait.
    ///
    /// Blocks the thread while others read or write. If `f` panics, nobody is told.
    #[inline]
    #[track_caller]
    pub(super) fn update(&self, f: impl FnOnce(&mut T) -> bool) -> bool {
        let place = Location::caller();
        let site = || WaitSite { kind: WaitKind::Lock, location: place };
        self.lock.write(|| owner::waits(self.address(), site(), 0));
        let held = Held::new(self.address(), place);
        let mut writing = Writing { shared: self, updated: false, _held: held };
        // SAFETY: the lock is held for writing.
        writing.updated = self.value.with_mut(|value| f(unsafe { &mut *value }));
        writing.updated
    }

    #[cfg(test)]
    pub(super) fn a_writer_waits(&self) -> bool {
        self.lock.is_wanted()
    }

    #[cold]
    fn tell(&self) {
        let queue = self.queue.lock();
        self.lock.clear_waiters();
        queue.release_all(LOOK);
    }

    /// Waits until there are news for one that has `seen` this version.
    ///
    /// # Safety
    ///
    /// The caller owns `node`, uses it with this channel only, and calls [`leave`](Self::leave)
    /// with it before it goes away.
    #[inline]
    pub(super) unsafe fn poll_news(
        &self,
        node: Pin<&Waiter>,
        seen: u64,
        cx: &mut Context<'_>,
    ) -> Poll<Result<u64, RecvError>> {
        ready!(context::check_budget(cx));
        // SAFETY: passed on from the caller.
        let news = match unsafe { self.look(node, seen, cx) } {
            Poll::Ready(Some(news)) => news,
            // SAFETY: passed on from the caller; the node is idle.
            Poll::Ready(None) => ready!(unsafe { self.enqueue(node, seen, cx) }),
            Poll::Pending => return Poll::Pending,
        };
        context::spend();
        Poll::Ready(news)
    }

    /// Pending while queued; else the news there are, with the node idle.
    ///
    /// # Safety
    ///
    /// As for [`poll_news`](Self::poll_news).
    #[inline]
    unsafe fn look(
        &self,
        node: Pin<&Waiter>,
        seen: u64,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<u64, RecvError>>> {
        // SAFETY: passed on from the caller.
        if unsafe { self.is_queued(node, cx) } {
            return Poll::Pending;
        }
        Poll::Ready(self.news(seen))
    }

    /// Whether the node waits for a change yet, whose waker is the one of `cx` then.
    ///
    /// # Safety
    ///
    /// As for [`poll_news`](Self::poll_news).
    #[inline]
    pub(super) unsafe fn is_queued(&self, node: Pin<&Waiter>, cx: &mut Context<'_>) -> bool {
        // SAFETY: passed on from the caller.
        node.phase() != Phase::Idle && unsafe { self.queue.poll(node, cx) }.is_pending()
    }

    /// Queues an idle node, unless there are news.
    ///
    /// # Safety
    ///
    /// As for [`poll_news`](Self::poll_news); the node is idle.
    #[cold]
    pub(super) unsafe fn enqueue(
        &self,
        node: Pin<&Waiter>,
        seen: u64,
        cx: &mut Context<'_>,
    ) -> Poll<Result<u64, RecvError>> {
        // Foreign code: before the lock. Dropped after it, where it is not needed.
        let waker = cx.waker().clone();
        let mut queue = self.queue.lock();
        self.lock.set_waiters();
        if let Some(news) = self.news(seen) {
            if queue.is_empty() {
                self.lock.clear_waiters();
            }
            return Poll::Ready(news);
        }
        // SAFETY: passed on from the caller.
        unsafe { queue.push_back(node, Some(waker)) };
        Poll::Pending
    }

    /// Ends a wait before its node goes away.
    ///
    /// # Safety
    ///
    /// As for [`poll_news`](Self::poll_news).
    #[inline]
    pub(super) unsafe fn leave(&self, node: Pin<&Waiter>) {
        if node.phase() == Phase::Waiting {
            // SAFETY: passed on from the caller.
            unsafe { self.leave_queue(node) };
        }
    }

    /// # Safety
    ///
    /// As for [`poll_news`](Self::poll_news).
    #[cold]
    unsafe fn leave_queue(&self, node: Pin<&Waiter>) {
        let mut queue = self.queue.lock();
        // SAFETY: passed on from the caller.
        let removed = unsafe { queue.remove(node) };
        if queue.is_empty() {
            self.lock.clear_waiters();
        }
        drop(queue);
        // What was released has nothing to hand on: all were. The waker is foreign: it is dropped
        // here, after the lock.
        if let Removed::Waiting(waker) = removed {
            drop(waker);
        }
    }
}

impl<T> Counted<Senders> for Shared<T> {
    fn count(&self) -> &Count {
        &self.senders
    }

    fn last_left(&self) {
        let queue = self.queue.lock();
        // Release: who sees the end sees the last update.
        self.version.fetch_or(ENDED, Release);
        self.lock.clear_waiters();
        queue.release_all(LOOK);
    }
}

/// The lock is held for reading while this lives.
pub(super) struct Reading<'a, T> {
    shared: &'a Shared<T>,
    /// The version of the value.
    pub(super) version: u64,
    _held: Held,
}

impl<T> Reading<'_, T> {
    #[inline]
    pub(super) fn value(&self) -> &T {
        // SAFETY: the lock is held for reading as long as `self` is borrowed.
        self.shared.value.with(|value| unsafe { &*value })
    }
}

impl<T> Drop for Reading<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.shared.lock.end_read();
    }
}

/// The lock is held for writing while this lives.
struct Writing<'a, T> {
    shared: &'a Shared<T>,
    updated: bool,
    _held: Held,
}

impl<T> Drop for Writing<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let shared = self.shared;
        if self.updated {
            // Relaxed: changed under the lock only, which is held.
            let version = shared.version.load(Relaxed);
            // Release: who sees the version sees the value, and what led to it.
            shared.version.store(version.wrapping_add(UPDATE), Release);
        }
        if shared.lock.end_write() && self.updated {
            shared.tell();
        }
    }
}
