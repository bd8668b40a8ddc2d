//! The state machine of the mutex: a fast path that may overtake, and a bound on overtaking.
//!
//! # Question
//!
//! Handing a lock straight to the next waiter makes everybody wait for a task that does not run
//! yet; letting whoever runs take it may starve the waiter. How does the lock do the second, at
//! one exchange a side, and still promise an end to being passed over?
//!
//! # States
//!
//! | bit of the word | |
//! |---|---|
//! | LOCKED | somebody holds the lock |
//! | WAITERS | the queue is not empty |
//! | WOKEN | one waiter was taken off the queue and woken to try; it has not tried yet |
//! | HANDOFF | the head was passed over for too long: the next release hands the lock over |
//! | FAIR | for good: every release with waiters hands over |
//!
//! | LOCKED | WAITERS | WOKEN | HANDOFF | a release |
//! |---|---|---|---|---|
//! | 1 | 0 | 0 | 0 | one exchange |
//! | 1 | any | 1 | 0 | one exchange: somebody is on its way already |
//! | 1 | 1 | 0 | 0 | locks the queue, frees the lock, wakes the head to try |
//! | 1 | 1 | 0 | 1 | locks the queue, grants the lock to the head, and stays LOCKED |
//!
//! With LOCKED clear, WAITERS implies WOKEN: nobody sleeps beside a free lock but behind one that
//! was woken. HANDOFF implies WAITERS, and excludes WOKEN.
//!
//! # Protocol
//!
//! *Take*: one exchange while LOCKED is clear. Else lock the queue, look again in the exchange that
//! sets WAITERS, push at the back. *Woken to try*: an exchange sets LOCKED and clears WOKEN. If
//! somebody else holds the lock, go back to the front of the queue. The first time this happens
//! the waiter notes the time; when it happens [`PATIENCE`] later or more, it sets HANDOFF. *Polled
//! while waiting*: take the lock if it is free, and leave the queue. *Give up*: leave the queue,
//! and clear HANDOFF if it was one's own. One that was woken to try clears WOKEN and wakes the
//! next in its place, if the lock is free; one that was granted the lock releases it.
//!
//! The clock is read by a waiter that was passed over, and by nobody else.
//!
//! # Race
//!
//! *A release against going to sleep*: both change one word, so the waiter finds the lock free or
//! the release finds WAITERS, and waits for the queue under which the waiter is pushed. *A release
//! against one that was woken*: a release that sees WOKEN wakes nobody. Whoever clears WOKEN then
//! holds the lock (and its own release looks again), or saw LOCKED in that same exchange, in which
//! case the release is still to come and finds WOKEN clear.
//!
//! # Proof
//!
//! *Exclusion*: LOCKED is set from clear by exchanges only, and a hand-over leaves it set. While it
//! is set, the holder with the queue locked is alone with the word: takers fail, and all others
//! need the queue; so it stores. *Publication*: releases write the word or the node with release,
//! takers read either with acquire. *Bound*: a waiter at the front that asked is granted the lock
//! by the next release. Models: `model_mutex_excludes`, `model_mutex_release_against_wait`,
//! `model_mutex_woken_and_passed_over`, `model_mutex_woken_and_dropped`,
//! `model_mutex_cancel_against_release`, `model_mutex_fair_hands_over`,
//! `model_mutex_comes_in_after_the_waiters_left`.

use std::panic::Location;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::context;
use raddle_base::shim::atomic::AtomicU32;
use raddle_base::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use raddle_base::shim::model::bound;
use raddle_base::wait::{Locked, Phase, Removed, WaitQueue, Waiter, Wake};

use crate::owner::{self, Held};

const LOCKED: u32 = 1;
const WAITERS: u32 = 1 << 1;
const WOKEN: u32 = 1 << 2;
const HANDOFF: u32 = 1 << 3;
const FAIR: u32 = 1 << 4;

/// How long a waiter lets others pass: long enough that a hand-over, which makes everybody wait
/// for one task to run, stays rare; short enough for a tail. In a model, the second time is enough.
pub(crate) const PATIENCE: Duration = Duration::from_nanos(bound(500_000, 0) as u64);

/// Outcomes of a wait: the lock is free, try; the lock is yours.
const TRY: u8 = 1;
const HANDED: u8 = 2;

/// A waiter's payload, touched by its owner only.
#[derive(Debug)]
pub(crate) struct Turn {
    /// When it was first passed over.
    passed_over: Option<Instant>,
    /// Whether it set HANDOFF.
    asked: bool,
}

impl Turn {
    #[inline]
    pub(crate) const fn new() -> Self {
        Turn { passed_over: None, asked: false }
    }
}

/// The lock without its data. Guards of parts of the data hold a reference to it.
#[doc(hidden)]
pub struct RawMutex {
    queue: WaitQueue<Turn>,
}

impl RawMutex {
    raddle_base::const_unless_loom! {
        pub(crate) const fn new(fair: bool) -> Self {
            RawMutex { queue: WaitQueue::with_word(if fair { FAIR } else { 0 }, ()) }
        }
    }

    #[inline]
    fn word(&self) -> &AtomicU32 {
        self.queue.word()
    }

    #[inline]
    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Whether the lock is held, whether somebody waits, and whether one was woken to try.
    pub(crate) fn state(&self) -> (bool, bool, bool) {
        // Relaxed: a snapshot for people.
        let word = self.word().load(Relaxed);
        (word & LOCKED != 0, word & WAITERS != 0, word & WOKEN != 0)
    }

    /// Sets LOCKED, and clears `clear`, if LOCKED is clear.
    #[inline]
    fn take(&self, clear: u32) -> bool {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word().load(Relaxed);
        while word & LOCKED == 0 {
            let next = (word | LOCKED) & !clear;
            // Acquire: what was done under the lock before is visible.
            match self.word().compare_exchange_weak(word, next, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    #[inline]
    pub(crate) fn try_lock(&self, place: &'static Location<'static>) -> Option<Held> {
        self.take(0).then(|| Held::new(self.address(), place))
    }

    #[inline]
    pub(crate) fn unlock(&self) {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word().load(Relaxed);
        while word & (WAITERS | WOKEN | HANDOFF) != WAITERS && word & HANDOFF == 0 {
            // Release: what was done under the lock is visible to whoever takes it.
            match self.word().compare_exchange_weak(word, word & !LOCKED, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
        self.unlock_slowly();
    }

    #[cold]
    fn unlock_slowly(&self) {
        let mut queue = self.queue.lock();
        // Relaxed: the word is ours, who hold LOCKED and the queue, until a store gives it away.
        let word = self.word().load(Relaxed);
        let wake = if word & (HANDOFF | FAIR) != 0 && !queue.is_empty() {
            queue.grant_front_after(0, HANDED, |queue| {
                // Relaxed: the next holder sees what was done under the lock through its node.
                self.word().store(word & !(HANDOFF | WAITERS) | waiters(queue), Relaxed);
            })
        } else if word & WOKEN == 0 && !queue.is_empty() {
            queue.grant_front_after(0, TRY, |queue| {
                // Release: as in `unlock`.
                self.word().store(word & FAIR | WOKEN | waiters(queue), Release);
            })
        } else {
            // Release: as in `unlock`.
            self.word().store(word & (FAIR | WOKEN) | waiters(&queue), Release);
            None
        };
        drop(queue);
        wake.into_iter().for_each(Wake::wake);
    }

    /// Takes the lock, or waits for it.
    ///
    /// # Safety
    ///
    /// The caller owns `node`, uses it with this lock only, and calls [`leave`](Self::leave) with
    /// it before it goes away.
    #[inline]
    pub(crate) unsafe fn poll(&self, node: Pin<&Waiter<Turn>>, cx: &mut Context<'_>) -> Poll<Held> {
        if node.phase() == Phase::Idle {
            ready!(context::step(cx));
            if let Some(held) = self.try_lock(node.site().location) {
                return Poll::Ready(held);
            }
        }
        // SAFETY: passed on from the caller.
        unsafe { self.poll_slowly(node, cx) }
    }

    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    #[cold]
    unsafe fn poll_slowly(&self, node: Pin<&Waiter<Turn>>, cx: &mut Context<'_>) -> Poll<Held> {
        ready!(context::check_budget(cx));
        let taken = loop {
            // SAFETY: passed on from the caller.
            break match node.phase() {
                Phase::Idle => {
                    owner::waits(self.address(), node.site(), 0);
                    // SAFETY: as above.
                    unsafe { self.enqueue(node, cx.waker().clone(), None) }
                }
                // SAFETY: as above.
                Phase::Done(TRY) => unsafe { self.woken(node, cx) },
                // SAFETY: as above.
                Phase::Done(_) => unsafe { self.queue.poll(node, cx) }.is_ready(),
                // SAFETY: as above.
                Phase::Waiting if unsafe { self.overtakes(node) } => true,
                // SAFETY: as above. Done by now with an outcome that was not looked at, if not.
                Phase::Waiting if unsafe { self.queue.refresh(node, cx) } => false,
                Phase::Waiting => continue,
            };
        };
        if !taken {
            return Poll::Pending;
        }
        context::spend();
        Poll::Ready(Held::new(self.address(), node.site().location))
    }

    /// One that was woken to try takes the lock, or goes back to the front.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll); the node is done with TRY.
    unsafe fn woken(&self, node: Pin<&Waiter<Turn>>, cx: &mut Context<'_>) -> bool {
        if self.take(WOKEN) {
            // SAFETY: passed on from the caller; the node is done.
            return unsafe { self.queue.poll(node, cx) }.is_ready();
        }
        // Foreign code, which may panic: before the node forgets that it was woken.
        let waker = cx.waker().clone();
        let now = Instant::now();
        // SAFETY: only the owner, who is the caller, touches this payload.
        let overdue = node.payload().with_mut(|turn| match unsafe { (*turn).passed_over } {
            Some(since) => now.saturating_duration_since(since) >= PATIENCE,
            None => {
                // SAFETY: as above.
                unsafe { (*turn).passed_over = Some(now) };
                false
            }
        });
        // SAFETY: passed on from the caller; the node is done, and idle after.
        unsafe {
            let _ = self.queue.poll(node, cx);
            self.enqueue(node, waker, Some(overdue))
        }
    }

    /// Queues an idle node, at the back, or at the front if it comes back from a try (and then
    /// asks for the lock to be handed over or not); unless the lock is free: takes it then, true.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll); the node is idle.
    unsafe fn enqueue(
        &self,
        node: Pin<&Waiter<Turn>>,
        waker: Waker,
        returns: Option<bool>,
    ) -> bool {
        let asks = returns == Some(true);
        let clear = if returns.is_some() { WOKEN } else { 0 };
        let set = if asks { WAITERS | HANDOFF } else { WAITERS };
        let mut queue = self.queue.lock();
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word().load(Relaxed);
        loop {
            let free = word & LOCKED == 0;
            let next = (word | if free { LOCKED } else { set }) & !clear;
            // Acquire: as in `take`.
            match self.word().compare_exchange_weak(word, next, Acquire, Relaxed) {
                Ok(_) if free => return true,
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        // SAFETY: only the owner, who is the caller, touches this payload.
        node.payload().with_mut(|turn| {
            // SAFETY: as above.
            let turn = unsafe { &mut *turn };
            turn.asked = asks;
            if returns.is_none() {
                // A node may wait anew: of a condition variable's, for one.
                turn.passed_over = None;
            }
        });
        // SAFETY: passed on from the caller.
        unsafe {
            match returns {
                None => queue.push_back(node, Some(waker)),
                Some(_) => queue.push_front(node, Some(waker)),
            }
        }
        false
    }

    /// One that is polled while it waits takes the lock if it is free, and leaves the queue.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    unsafe fn overtakes(&self, node: Pin<&Waiter<Turn>>) -> bool {
        // Relaxed: a look; the exchange decides.
        if self.word().load(Relaxed) & LOCKED != 0 || node.phase() != Phase::Waiting {
            return false;
        }
        let mut queue = self.queue.lock();
        if node.phase() != Phase::Waiting || !self.take(0) {
            return false;
        }
        // SAFETY: passed on from the caller.
        let removed = unsafe { queue.remove(node) };
        self.settle(&queue, node);
        drop(queue);
        // Foreign code: the waker is dropped here, after the lock.
        drop(removed);
        true
    }

    /// Makes WAITERS tell the truth after `node` left the queue, and takes back what it asked.
    fn settle(&self, queue: &Locked<'_, Turn, ()>, node: Pin<&Waiter<Turn>>) {
        // SAFETY: only the owner, who is the caller, touches this payload.
        let asked = node.payload().with_mut(|turn| unsafe { std::mem::take(&mut (*turn).asked) });
        let clear = waiters(queue) ^ WAITERS | if asked { HANDOFF } else { 0 };
        // Relaxed: these bits change under the lock only, and publish nothing.
        if self.word().load(Relaxed) & clear != 0 {
            self.word().fetch_and(!clear, Relaxed);
        }
    }

    /// Ends a wait before its node goes away; what it had been given passes on.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    #[inline]
    pub(crate) unsafe fn leave(&self, node: Pin<&Waiter<Turn>>) {
        if node.phase() != Phase::Idle {
            // SAFETY: passed on from the caller.
            unsafe { self.leave_slowly(node) };
        }
    }

    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    #[cold]
    unsafe fn leave_slowly(&self, node: Pin<&Waiter<Turn>>) {
        let mut queue = self.queue.lock();
        // SAFETY: passed on from the caller.
        match unsafe { queue.remove(node) } {
            Removed::Waiting(waker) => {
                self.settle(&queue, node);
                drop(queue);
                // Foreign code: after the lock.
                drop(waker);
            }
            Removed::Done(HANDED) => {
                drop(queue);
                self.unlock();
            }
            Removed::Done(_) => self.wake_next(queue),
            Removed::Idle => {}
        }
    }

    /// One that was woken to try gives up: the next one tries in its place, if there is anything
    /// to try.
    fn wake_next(&self, mut queue: Locked<'_, Turn, ()>) {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word().load(Relaxed);
        while word & LOCKED != 0 || queue.is_empty() {
            // Relaxed: nothing is published by WOKEN. With LOCKED in the same exchange, the release
            // is still to come, and wakes the next.
            match self.word().compare_exchange_weak(word, word & !WOKEN, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
        // WOKEN passes on.
        let wake = queue.grant_front(TRY);
        if queue.is_empty() {
            // Relaxed: as in `settle`.
            self.word().fetch_and(!WAITERS, Relaxed);
        }
        drop(queue);
        wake.into_iter().for_each(Wake::wake);
    }
}

/// What the word is to say about the queue.
fn waiters(queue: &Locked<'_, Turn, ()>) -> u32 {
    if queue.is_empty() { 0 } else { WAITERS }
}
