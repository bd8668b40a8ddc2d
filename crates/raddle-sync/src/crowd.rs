//! A word, and everybody who waits until it says that they may go.
//!
//! Latch, barrier, wait group, phaser, tracker and whatever else lets many go at once are faces of
//! this.
//!
//! # Question
//!
//! Many wait for one change of a number, be it a count that reaches zero or a phase that ends. How
//! does the change let all of them go in one round, first come first served, without a lock while
//! nobody waits, and such that who comes for the *next* change is not let go by this one?
//!
//! # States
//!
//! | bits of the word | field |
//! |---|---|
//! | 0 | WAITERS: the queue is not empty |
//! | 1.. | the value, which means something to the face only |
//!
//! # Protocol
//!
//! *Step*: an exchange of the value. A step that *releases* takes the lock first if WAITERS is set,
//! clears WAITERS in the exchange itself, and then releases the whole queue. *Enter*: lock; an
//! exchange that may change the value as well (an arrival) and sets WAITERS; push. *Leave*: lock;
//! unlink; if the wait was not over, an exchange that may take the value back; the last one to
//! leave clears WAITERS.
//!
//! # Race
//!
//! A step releases while a waiter goes to sleep. One word decides: if the step is first, the
//! waiter's exchange sees the new value and does not wait; if the waiter is first, the step sees
//! WAITERS and takes the lock, under which the waiter was pushed.
//!
//! Somebody enters for the next round between the step and the release of the queue. Impossible:
//! both happen in one critical section, and entering takes the same lock.
//!
//! # Proof
//!
//! WAITERS is set and cleared under the lock only, and holds exactly while the queue is not empty.
//! The word changes by exchanges only, so a step that does not release never disturbs it. Every
//! step writes with release and every look at the value acquires; who was queued is reached through
//! its node, which is granted with release after an exchange that acquired all earlier steps.
//! Models: `model_crowd_step_against_enter`, `model_crowd_step_before_look`,
//! `model_crowd_release_against_leave`, `model_crowd_steps_add_up`.

pub(crate) mod stay;

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use raddle_base::wait::{Phase, Removed, WaitQueue, Waiter, WakeBatch};

const WAITERS: usize = 1;
const SHIFT: u32 = 1;

/// The outcome of a wait whose condition came true.
pub(crate) const OVER: u8 = 1;

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing; nothing is published either.
    Keep,
    /// Changes the value; who waits goes on waiting.
    To(usize),
    /// Changes the value and lets everybody go.
    Release(usize),
}

/// What becomes of one who comes to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Need not wait.
    Over,
    /// Waits, with this as the value from now on.
    Wait(usize),
    /// Need not wait, changes the value and lets everybody go.
    Release(usize),
}

#[derive(Debug)]
pub(crate) struct Crowd {
    word: AtomicUsize,
    queue: WaitQueue,
}

impl Crowd {
    /// The largest value.
    pub(crate) const MAX: usize = usize::MAX >> SHIFT;

    raddle_base::const_unless_loom! {
        #[track_caller]
        pub(crate) const fn new(value: usize) -> Self {
            assert!(value <= Crowd::MAX, "the count is too large");
            Crowd { word: AtomicUsize::new(value << SHIFT), queue: WaitQueue::new(()) }
        }
    }

    /// The value. What happened before the steps that led to it is visible.
    #[inline]
    pub(crate) fn value(&self) -> usize {
        // Acquire: pairs with the release of every step.
        self.word.load(Acquire) >> SHIFT
    }

    /// Changes the value as `f` says, which may be asked several times. Returns the value before.
    ///
    /// Everybody who waits now and is let go has been woken on return.
    #[inline]
    pub(crate) fn step(&self, mut f: impl FnMut(usize) -> Step) -> usize {
        // Acquire: what `f` decides on is what earlier steps have published.
        let mut word = self.word.load(Acquire);
        loop {
            let next = match f(word >> SHIFT) {
                Step::Keep => return word >> SHIFT,
                Step::To(next) => (next << SHIFT) | (word & WAITERS),
                Step::Release(next) if word & WAITERS == 0 => next << SHIFT,
                Step::Release(_) => return self.step_locked(OVER, f),
            };
            // Release: who sees the value sees what led to it. Acquire: so does who sees a later
            // one, and the caller, who may be the last.
            match self.word.compare_exchange_weak(word, next, AcqRel, Acquire) {
                Ok(_) => return word >> SHIFT,
                Err(now) => word = now,
            }
        }
    }

    /// As [`step`](Self::step), under the lock, with an outcome for those who are let go.
    #[cold]
    pub(crate) fn step_locked(&self, outcome: u8, mut f: impl FnMut(usize) -> Step) -> usize {
        let queue = self.queue.lock();
        // Acquire, and below: as in `step`.
        let mut word = self.word.load(Acquire);
        loop {
            let (next, releases) = match f(word >> SHIFT) {
                Step::Keep => return word >> SHIFT,
                Step::To(next) => ((next << SHIFT) | (word & WAITERS), false),
                Step::Release(next) => (next << SHIFT, true),
            };
            match self.word.compare_exchange_weak(word, next, AcqRel, Acquire) {
                Ok(_) if releases => {
                    queue.release_all(outcome);
                    return word >> SHIFT;
                }
                Ok(_) => return word >> SHIFT,
                Err(now) => word = now,
            }
        }
    }

    /// Waits until `is_over` holds for the value.
    ///
    /// # Safety
    ///
    /// The caller owns `node`, uses it with this crowd only, and calls [`leave`](Self::leave) with
    /// it before it goes away.
    #[inline]
    pub(crate) unsafe fn poll(
        &self,
        node: Pin<&Waiter>,
        cx: &mut Context<'_>,
        is_over: impl Fn(usize) -> bool,
    ) -> Poll<u8> {
        ready!(context::check_budget(cx));
        let enter = |value| if is_over(value) { Entry::Over } else { Entry::Wait(value) };
        let polled = match node.phase() {
            Phase::Idle if is_over(self.value()) => Poll::Ready(OVER),
            // SAFETY: passed on from the caller; the node is idle.
            Phase::Idle => match unsafe { self.enter(node, cx, enter) } {
                Entry::Wait(_) => Poll::Pending,
                _ => Poll::Ready(OVER),
            },
            // SAFETY: passed on from the caller.
            _ => unsafe { self.queue.poll(node, cx) },
        };
        if polled.is_ready() {
            context::spend();
        }
        polled
    }

    /// Comes to wait, or finds under the lock that it need not; tells which.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll); the node is idle.
    #[cold]
    pub(crate) unsafe fn enter(
        &self,
        node: Pin<&Waiter>,
        cx: &mut Context<'_>,
        mut f: impl FnMut(usize) -> Entry,
    ) -> Entry {
        // Foreign code: before the lock. Dropped after it, where it is not needed.
        let waker = cx.waker().clone();
        let mut queue = self.queue.lock();
        // Acquire, and below: as in `step`.
        let mut word = self.word.load(Acquire);
        loop {
            let entry = f(word >> SHIFT);
            let next = match entry {
                Entry::Over => return entry,
                Entry::Wait(next) => (next << SHIFT) | WAITERS,
                Entry::Release(next) => next << SHIFT,
            };
            match self.word.compare_exchange_weak(word, next, AcqRel, Acquire) {
                Ok(_) if matches!(entry, Entry::Wait(_)) => {
                    // SAFETY: passed on from the caller.
                    unsafe { queue.push_back(node, Some(waker)) };
                    return entry;
                }
                Ok(_) => {
                    queue.release_all(OVER);
                    return entry;
                }
                Err(now) => word = now,
            }
        }
    }

    /// The outcome of a wait that was entered, if it is over; else refreshes its waker.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll); the node is not idle.
    pub(crate) unsafe fn poll_entered(&self, node: Pin<&Waiter>, cx: &mut Context<'_>) -> Poll<u8> {
        // SAFETY: passed on from the caller.
        unsafe { self.queue.poll(node, cx) }
    }

    /// Ends a wait before its node goes away.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    #[inline]
    pub(crate) unsafe fn leave(&self, node: Pin<&Waiter>) {
        if node.phase() == Phase::Waiting {
            // SAFETY: passed on from the caller.
            unsafe { self.leave_with(node, |value| value) };
        }
    }

    /// Changes the value by `f` and lets `count` go, those who have waited longest, with this
    /// outcome.
    #[inline]
    pub(crate) fn release_some(&self, outcome: u8, count: usize, f: impl Fn(usize) -> usize) {
        // Acquire, and below: as in `step`.
        let mut word = self.word.load(Acquire);
        while word & WAITERS == 0 {
            let next = f(word >> SHIFT) << SHIFT;
            match self.word.compare_exchange_weak(word, next, AcqRel, Acquire) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
        self.release_some_locked(outcome, count, f);
    }

    #[cold]
    fn release_some_locked(&self, outcome: u8, mut count: usize, f: impl Fn(usize) -> usize) {
        let mut batch = WakeBatch::new();
        let mut queue = self.queue.lock();
        self.step(|value| Step::To(f(value)));
        loop {
            while count > 0 && !batch.is_full() {
                let Some(wake) = queue.grant_front(outcome) else { break };
                batch.push(wake);
                count -= 1;
            }
            let done = count == 0 || queue.is_empty();
            if queue.is_empty() {
                // Relaxed: WAITERS publishes nothing, and is changed under the lock only.
                self.word.fetch_and(!WAITERS, Relaxed);
            }
            drop(queue);
            if done {
                return batch.finish();
            }
            batch.wake_all();
            queue = self.queue.lock();
        }
    }

    /// Leaves the queue; if the wait was not over, `f` may take back what entering had changed.
    /// The outcome of the wait, if it was over.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    #[cold]
    pub(crate) unsafe fn leave_with(
        &self,
        node: Pin<&Waiter>,
        f: impl Fn(usize) -> usize,
    ) -> Option<u8> {
        let mut queue = self.queue.lock();
        // SAFETY: passed on from the caller.
        match unsafe { queue.remove(node) } {
            Removed::Idle => None,
            Removed::Done(outcome) => Some(outcome),
            Removed::Waiting(waker) => {
                let waiters = if queue.is_empty() { 0 } else { WAITERS };
                // Acquire, and below: as in `step`.
                let mut word = self.word.load(Acquire);
                loop {
                    let next = (f(word >> SHIFT) << SHIFT) | waiters;
                    match self.word.compare_exchange_weak(word, next, AcqRel, Acquire) {
                        Ok(_) => break,
                        Err(now) => word = now,
                    }
                }
                drop(queue);
                // Foreign code: after the lock.
                drop(waker);
                None
            }
        }
    }
}

#[cfg(all(test, loom))]
#[path = "tests/crowd_models.rs"]
mod models;
