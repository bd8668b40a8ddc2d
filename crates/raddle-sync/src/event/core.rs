//! The core of both events: a flag that is seen without a lock, and a queue of those who wait.
//!
//! # Question
//!
//! How do a look at an event and a wait that finds it set cost one load, or one exchange where
//! the signal is taken, while a set misses nobody who goes to sleep, a reset takes nothing back
//! from those who were released, and a signal that was assigned to one wait is never lost?
//!
//! # States
//!
//! | SET (bit 0) | WAITERS (bit 1) | |
//! |---|---|---|
//! | 0 | 0 | not set, nobody waits |
//! | 1 | 0 | set; an auto-reset event stores one signal |
//! | 0 | 1 | not set, and the queue is not empty |
//! | 1 | 1 | does not occur |
//!
//! # Protocol
//!
//! *Set* without WAITERS is one exchange, also where the event is set already: that publishes what
//! the caller did. With WAITERS, lock: a manual event becomes set and takes the whole queue away
//! in the same critical section, an auto-reset one grants its signal to the head and stays unset.
//! *Reset* clears SET and nothing else, so it reaches no one who was released or assigned a
//! signal. *Wait*: see SET (and take it, if auto-reset). Else lock, and look again in the very
//! exchange that sets WAITERS; push. *Give up*: leave the queue. A wait that was assigned the
//! signal of an auto-reset event sets the event anew, for the next in line or to be stored.
//!
//! # Race
//!
//! *Set against going to sleep*: both change one word by exchange. If the set is first, the
//! waiter's exchange finds SET; if the waiter is first, the set finds WAITERS and takes the lock
//! under which the waiter is pushed. *Set, reset and a new wait*: the set releases under the lock
//! what was queued until then; a wait that begins after the reset is queued under the same lock,
//! later, and stays.
//!
//! # Proof
//!
//! WAITERS is set and cleared under the lock only, and holds exactly while the queue is not empty:
//! whoever empties it clears the bit in the same critical section. It is set in an exchange that
//! saw SET clear, and a set that sees it does not go around the lock, so the two exclude each
//! other. A set writes with release (the word, or the node), and every end of a wait, `is_set` and
//! `reset` read with acquire. Models: `model_event_set_against_wait`,
//! `model_event_set_before_look`, `model_event_set_reset_against_waiters`,
//! `model_event_second_set_publishes`, `model_event_cancel_against_set`,
//! `model_auto_event_guards_plain_data`, `model_auto_event_cancel_hands_on`,
//! `model_auto_event_reset_against_set`.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use raddle_base::context;
use raddle_base::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use raddle_base::wait::{Locked, Phase, Removed, WaitQueue, Waiter};

const SET: u32 = 1;
const WAITERS: u32 = 2;

/// The one outcome of a wait.
const SIGNALLED: u8 = 1;

/// Whether a wait was found to be over by [`Core::enable`]: the payload of a node, touched by its
/// owner only.
pub(crate) type Over = bool;

pub(crate) struct Core<const AUTO: bool> {
    queue: WaitQueue<Over>,
}

impl<const AUTO: bool> Core<AUTO> {
    raddle_base::const_unless_loom! {
        pub(crate) const fn new(set: bool) -> Self {
            Core { queue: WaitQueue::with_word(if set { SET } else { 0 }, ()) }
        }
    }

    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        // Acquire: what led to the set is visible.
        self.queue.word().load(Acquire) & SET != 0
    }

    /// Whether the event is set; takes the signal of an auto-reset one.
    #[inline]
    pub(crate) fn try_wait(&self) -> bool {
        self.is_set() && self.take()
    }

    /// Takes the signal of an auto-reset event that was seen set.
    #[inline]
    fn take(&self) -> bool {
        // Acquire: what led to the set is visible. With SET there are no WAITERS.
        !AUTO || self.queue.word().compare_exchange(SET, 0, Acquire, Relaxed).is_ok()
    }

    #[inline]
    pub(crate) fn set(&self) {
        let word = self.queue.word();
        // Relaxed: only a first guess for the exchange below.
        let mut seen = word.load(Relaxed);
        while seen & WAITERS == 0 {
            // Release: what led to the set is visible to whoever finds it; for that it is written
            // again even if the event is set already.
            match word.compare_exchange_weak(seen, SET, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
        self.set_waiting();
    }

    #[cold]
    fn set_waiting(&self) {
        let mut queue = self.queue.lock();
        if !AUTO {
            // Release: for those who will find it set. Those in the queue, if any, see it through
            // their nodes.
            self.queue.word().swap(SET, Release);
            return queue.release_all(SIGNALLED);
        }
        let wake = queue.grant_front(SIGNALLED);
        self.clear_if_empty(&queue);
        drop(queue);
        match wake {
            Some(wake) => wake.wake(),
            // The last waiter left meanwhile, so that WAITERS is clear.
            None => self.set(),
        }
    }

    /// Whether the event was set.
    #[inline]
    pub(crate) fn reset(&self) -> bool {
        // Acquire: what led to the sets that are taken back is visible.
        self.queue.word().fetch_and(!SET, Acquire) & SET != 0
    }

    fn clear_if_empty(&self, queue: &Locked<'_, Over, ()>) {
        // Relaxed: WAITERS changes under the lock only, and nothing is published by it.
        if queue.is_empty() && self.queue.word().load(Relaxed) & WAITERS != 0 {
            self.queue.word().fetch_and(!WAITERS, Relaxed);
        }
    }

    /// Ready when the wait is over; else queues it or refreshes its waker.
    ///
    /// # Safety
    ///
    /// The caller owns `node`, uses it with this event only, and calls [`leave`](Self::leave) with
    /// it before it goes away.
    #[inline]
    pub(crate) unsafe fn poll(&self, node: Pin<&Waiter<Over>>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: only the owner, who is the caller, touches this payload.
        let over = node.payload().with(|over| unsafe { *over });
        if !over && node.is_idle() && self.is_set() {
            ready!(context::step(cx));
            if self.take() {
                return Poll::Ready(());
            }
        }
        // SAFETY: passed on from the caller.
        unsafe { self.poll_slowly(node, over, cx) }
    }

    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    #[cold]
    unsafe fn poll_slowly(
        &self,
        node: Pin<&Waiter<Over>>,
        over: bool,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        ready!(context::check_budget(cx));
        let over = over
            || match node.phase() {
                // SAFETY: passed on from the caller.
                Phase::Idle => unsafe { self.enqueue(node, Some(cx.waker().clone())) },
                // SAFETY: passed on from the caller.
                _ => unsafe { self.queue.poll(node, cx) }.is_ready(),
            };
        if !over {
            return Poll::Pending;
        }
        // A slot is good for another wait now.
        // SAFETY: only the owner touches this payload.
        node.payload().with_mut(|over| unsafe { *over = false });
        context::spend();
        Poll::Ready(())
    }

    /// Joins the queue without waiting; true if the wait is over, which the next poll will tell.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    pub(crate) unsafe fn enable(&self, node: Pin<&Waiter<Over>>) -> bool {
        // SAFETY: only the owner touches this payload.
        if node.payload().with(|over| unsafe { *over }) {
            return true;
        }
        let over = match node.phase() {
            // SAFETY: passed on from the caller.
            Phase::Idle => self.try_wait() || unsafe { self.enqueue(node, None) },
            Phase::Waiting => return false,
            Phase::Done(_) => return true,
        };
        // SAFETY: as above.
        node.payload().with_mut(|payload| unsafe { *payload = over });
        over
    }

    /// Queues an idle node, unless the event is set: true then, with the signal taken.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll); the node is idle. The waker is foreign: it was cloned before
    /// the lock, and is dropped after it where it is not needed.
    unsafe fn enqueue(&self, node: Pin<&Waiter<Over>>, waker: Option<Waker>) -> bool {
        let mut queue = self.queue.lock();
        let word = self.queue.word();
        // Acquire: as in `is_set`.
        let mut seen = word.load(Acquire);
        loop {
            let next = match seen & SET {
                0 => WAITERS,
                _ if AUTO => 0,
                _ => return true,
            };
            // Acquire: as in `is_set`. Nothing is published by WAITERS but through the lock.
            match word.compare_exchange_weak(seen, next, Acquire, Acquire) {
                Ok(_) if next == 0 => return true,
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        // SAFETY: passed on from the caller.
        unsafe { queue.push_back(node, waker) };
        false
    }

    /// Ends a wait before its node goes away: a signal it was assigned passes on.
    ///
    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    #[inline]
    pub(crate) unsafe fn leave(&self, node: Pin<&Waiter<Over>>) {
        // SAFETY: only the owner touches this payload.
        let over = AUTO && node.payload().with(|over| unsafe { *over });
        if over || !node.is_idle() {
            // SAFETY: passed on from the caller.
            unsafe { self.leave_slowly(node, over) };
        }
    }

    /// # Safety
    ///
    /// As for [`poll`](Self::poll).
    #[cold]
    unsafe fn leave_slowly(&self, node: Pin<&Waiter<Over>>, over: bool) {
        let mut queue = self.queue.lock();
        // SAFETY: passed on from the caller.
        let removed = unsafe { queue.remove(node) };
        self.clear_if_empty(&queue);
        drop(queue);
        match removed {
            // Foreign code: the waker is dropped here, after the lock.
            Removed::Waiting(waker) => drop(waker),
            Removed::Done(_) if AUTO => self.set(),
            Removed::Idle if over => self.set(),
            Removed::Done(_) | Removed::Idle => {}
        }
    }
}

impl<const AUTO: bool> fmt::Debug for Core<AUTO> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if AUTO { "AutoResetEvent" } else { "ManualResetEvent" };
        // Acquire: as in `is_set`.
        let word = self.queue.word().load(Acquire);
        f.debug_struct(name)
            .field("set", &(word & SET != 0))
            .field("waiters", &(word & WAITERS != 0))
            .finish()
    }
}
