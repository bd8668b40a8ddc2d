//! The counting core: permits that are free, held or on their way to a waiter.
//!
//! Semaphores and bounded channels are faces of this.
//!
//! # Question
//!
//! How are permits counted so that taking and returning one costs a single exchange while nobody
//! waits, and so that in a crowd they go out strictly first come first served, also to one who
//! wants many, without any being lost when waiters give up?
//!
//! # States
//!
//! | bits of the word | field |
//! |---|---|
//! | 0 | CLOSED: nothing is given out any more |
//! | 1 | WAITERS: the queue is not empty |
//! | 2.. | free permits; negative: a debt, which returned permits pay before anything else |
//! | above | what the user counts in the same word, a channel's tail; there is no debt then |
//!
//! | CLOSED | WAITERS | free | |
//! |---|---|---|---|
//! | 0 | 0 | any | nobody waits |
//! | 0 | 1 | 0 | somebody waits; what comes back goes to the queue under its lock |
//! | 0 | any | < 0 | permits were taken away that were in use; who comes must wait |
//! | 1 | 0 | any | closed; permits still come back and are counted |
//!
//! WAITERS with free permits does not occur, which is the *invariant*: a waiter joins the queue
//! only in the same exchange that takes what is free and sets WAITERS, and returned permits become
//! free only with the queue empty. So a newcomer cannot overtake: it finds none free.
//!
//! # Protocol
//!
//! *Take*: exchange, while enough is free. Else lock, take what is free towards the need, set
//! WAITERS, push. *Return*: exchange, while WAITERS is not set. Else lock, and give to the head
//! what it misses; a head that has all is granted and the next one is served; what is left with
//! the queue empty becomes free in the exchange that clears WAITERS. *Give up*: leave the queue
//! and return what had been collected, which serves those behind. *Close*: set CLOSED, take back
//! what the head had collected (only the head can have any), release all with an error. *Reduce*:
//! an exchange takes away what is free and makes the rest a debt; what comes back pays that first.
//!
//! # Race
//!
//! A permit is returned while a waiter goes to sleep. One word decides: if the return is first,
//! the waiter's exchange takes it; if the waiter is first, the return sees WAITERS, and waits for
//! the lock under which the waiter is pushed.
//!
//! # Proof
//!
//! *Conservation*: every transition moves permits between word, nodes and the caller's hand, and
//! the word changes by exchanges only. While a return serves more waiters than one batch, it
//! holds the rest in hand with the lock dropped; the queue is not empty by then, or whoever
//! emptied it cleared WAITERS, and both are states that the loop meets at its start.
//! *Publication*: returning releases and taking acquires, the lock and the grant carry on from
//! there. Models: `model_permits_guard_plain_data`, `model_permits_release_against_cancel`,
//! `model_permits_release_against_enqueue`, `model_permits_close_against_acquire`.

mod need;

use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use raddle_base::wait::{Locked, Phase, Removed, WaitQueue, Waiter, WakeBatch};

use need::{GRANTED, REFUSED, serve_some};

pub(crate) use need::Need;

const CLOSED: usize = 1;
const WAITERS: usize = 2;
const SHIFT: u32 = 2;

/// Why there are no permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    Closed,
    NotNow,
}

/// How the word is divided between the free permits and what its user counts above them.
pub(crate) trait Layout {
    /// Bits of the free permits.
    const FREE_BITS: u32;
}

/// All bits count free permits.
#[derive(Debug)]
pub(crate) struct Whole;

impl Layout for Whole {
    const FREE_BITS: u32 = usize::BITS - SHIFT;
}

#[derive(Debug)]
pub(crate) struct Permits<L = Whole> {
    word: AtomicUsize,
    queue: WaitQueue<Need>,
    layout: PhantomData<fn() -> L>,
}

impl<L: Layout> Permits<L> {
    /// The most permits that can exist: the same as in tokio, and far from the word's end, or what
    /// fits into fewer bits.
    pub(crate) const MAX: usize =
        if L::FREE_BITS == Whole::FREE_BITS { usize::MAX >> 3 } else { (1 << L::FREE_BITS) - 1 };

    /// The lowest bit that belongs to the user.
    pub(crate) const ABOVE: u32 = SHIFT + L::FREE_BITS;

    raddle_base::const_unless_loom! {
        #[track_caller]
        pub(crate) const fn new(count: usize) -> Self {
            assert!(count <= Self::MAX, "more permits than a semaphore can hold");
            Self::limited(count, 0)
        }

        /// So that at most `most` are free at a time; 0 is no limit but `MAX`.
        pub(crate) const fn limited(count: usize, most: u32) -> Self {
            let word = AtomicUsize::new(count << SHIFT);
            Permits { word, queue: WaitQueue::with_word(most, ()), layout: PhantomData }
        }
    }

    /// The word, for what its user keeps above [`ABOVE`](Self::ABOVE).
    #[inline]
    pub(crate) fn word(&self) -> &AtomicUsize {
        &self.word
    }

    /// The free permits of a word.
    #[inline]
    pub(crate) const fn free(word: usize) -> usize {
        if L::FREE_BITS == 0 {
            0
        } else if L::FREE_BITS < Whole::FREE_BITS {
            (word >> SHIFT) & (usize::MAX >> (usize::BITS - L::FREE_BITS))
        } else {
            let free = word.cast_signed() >> SHIFT;
            if free < 0 { 0 } else { free.cast_unsigned() }
        }
    }

    /// Whether the word is that of closed permits.
    #[inline]
    pub(crate) const fn closed(word: usize) -> bool {
        word & CLOSED != 0
    }

    pub(crate) fn available(&self) -> usize {
        // Acquire: who sees a permit back sees what was done under it.
        Self::free(self.word.load(Acquire))
    }

    /// Permits that were taken away and have not come back yet.
    pub(crate) fn debt(&self) -> usize {
        // Acquire: as in `available`.
        Self::debt_of(self.word.load(Acquire))
    }

    pub(crate) fn is_closed(&self) -> bool {
        // Acquire: who sees the end sees what led to it.
        Self::closed(self.word.load(Acquire))
    }

    /// Takes `count` permits if they are free now.
    #[inline]
    pub(crate) fn try_acquire(&self, count: usize) -> Result<(), Denied> {
        self.try_acquire_and_add(count, 0).map(drop)
    }

    /// As [`try_acquire`](Self::try_acquire), and adds `above` to the user's part of the word in
    /// the same exchange. Returns the word as it was.
    #[inline]
    pub(crate) fn try_acquire_and_add(&self, count: usize, above: usize) -> Result<usize, Denied> {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word.load(Relaxed);
        loop {
            if word & CLOSED != 0 {
                return Err(Denied::Closed);
            }
            if Self::free(word) < count {
                return Err(Denied::NotNow);
            }
            let next = (word - (count << SHIFT)).wrapping_add(above);
            // Acquire: what was done under the permits before they came back is visible now.
            match self.word.compare_exchange_weak(word, next, Acquire, Relaxed) {
                Ok(_) => return Ok(word),
                Err(now) => word = now,
            }
        }
    }

    /// How many may become free beside those of the word.
    #[inline]
    fn room(&self, word: usize) -> usize {
        // Relaxed: it never changes.
        let most = match self.queue.word().load(Relaxed) {
            0 => Self::MAX,
            most => most as usize,
        };
        most.saturating_sub(Self::free(word))
    }

    /// The most permits that may be free.
    pub(crate) fn most(&self) -> usize {
        self.room(0)
    }

    /// Adds `count` permits: for those who wait, first come first served, else to the word.
    ///
    /// # Errors
    ///
    /// If more would be free than may be: for how many there is room. Nothing has changed then.
    #[inline]
    pub(crate) fn add(&self, count: usize) -> Result<(), usize> {
        self.put(count, |word| {
            let room = self.room(word);
            if count <= room { Ok(count) } else { Err(room) }
        })
    }

    /// Returns `count` permits that were taken from here. Should there be no room for them, because
    /// others were added in their place, they go.
    #[inline]
    pub(crate) fn take_back(&self, count: usize) {
        let _ = self.put(count, |word| Ok::<_, ()>(count.min(self.room(word))));
    }

    /// Returns `count` permits that were taken from here, where none are ever added: there is
    /// nothing to check.
    #[inline]
    pub(crate) fn give_back(&self, count: usize) {
        let _ = self.put(count, |_| Ok::<_, ()>(count));
    }

    /// Puts as many permits back as `fit` finds to fit beside those of the word.
    #[inline(always)]
    fn put<E>(&self, count: usize, fit: impl Fn(usize) -> Result<usize, E>) -> Result<(), E> {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word.load(Relaxed);
        while word & WAITERS == 0 {
            let next = word.wrapping_add(fit(word)? << SHIFT);
            // Release: what was done under the permits is visible to whoever takes them.
            match self.word.compare_exchange_weak(word, next, Release, Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => word = now,
            }
        }
        self.serve_queue(fit(word)?.min(count));
        Ok(())
    }

    #[cold]
    fn serve_queue(&self, count: usize) {
        self.serve(self.queue.lock(), count);
    }

    /// Gives `count` permits to the queue, and what is left to the word. Wakes with the lock
    /// released.
    #[cold]
    fn serve<'a>(&'a self, mut queue: Locked<'a, Need, ()>, mut count: usize) {
        let mut batch = WakeBatch::new();
        loop {
            count -= self.pay(count);
            let served = serve_some(&mut queue, &mut count, &mut batch);
            if served && queue.is_empty() {
                self.set_free(count);
            }
            drop(queue);
            if served {
                return batch.finish();
            }
            batch.wake_all();
            queue = self.queue.lock();
        }
    }

    /// With the queue empty and locked: clears WAITERS, and adds to what is free.
    fn set_free(&self, count: usize) {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word.load(Relaxed);
        loop {
            let fits = count.min(self.room(word));
            let next = (word & !WAITERS).wrapping_add(fits << SHIFT);
            // Release: as in `put`.
            match self.word.compare_exchange_weak(word, next, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    /// With the queue locked: pays the debt with up to `count` permits, and tells with how many.
    fn pay(&self, count: usize) -> usize {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word.load(Relaxed);
        loop {
            let paid = count.min(Self::debt_of(word));
            if paid == 0 {
                return 0;
            }
            let next = word.wrapping_add(paid << SHIFT);
            // Release: as in `put`, for permits that are free once the debt is paid.
            match self.word.compare_exchange_weak(word, next, Release, Relaxed) {
                Ok(_) => return paid,
                Err(now) => word = now,
            }
        }
    }

    /// Takes `count` permits away for good: free ones, and for the rest those that come back next.
    ///
    /// Panics if the debt would be more than [`MAX`](Self::MAX); nothing has changed then.
    #[track_caller]
    pub(crate) fn reduce(&self, count: usize) {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word.load(Relaxed);
        loop {
            let room = Self::MAX - Self::debt_of(word);
            assert!(count <= room, "more permits are taken away than a semaphore can hold");
            let next = word.wrapping_sub(count << SHIFT);
            // Acquire: as in `try_acquire`.
            match self.word.compare_exchange_weak(word, next, Acquire, Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    /// Removes up to `count` free permits for good, and tells how many.
    pub(crate) fn forget(&self, count: usize) -> usize {
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word.load(Relaxed);
        loop {
            let taken = count.min(Self::free(word));
            // Acquire: as in `try_acquire`.
            match self.word.compare_exchange_weak(word, word - (taken << SHIFT), Acquire, Relaxed) {
                Ok(_) => return taken,
                Err(now) => word = now,
            }
        }
    }

    /// Gives out nothing any more, and ends all waits with an error. Returns the word as it was.
    pub(crate) fn close(&self) -> usize {
        let mut queue = self.queue.lock();
        let collected = queue.front(|need| std::mem::take(&mut need.collected)).unwrap_or(0);
        // Relaxed: the next exchange orders.
        let mut word = self.word.load(Relaxed);
        loop {
            let next = ((word & !WAITERS) | CLOSED).wrapping_add(collected << SHIFT);
            // Release: who sees the end sees what led to it, and as in `put`. Acquire: what
            // happened before an earlier close is visible to a later caller.
            match self.word.compare_exchange_weak(word, next, AcqRel, Relaxed) {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        queue.release_all(REFUSED);
        word
    }

    /// Takes `wanted` permits or waits for them, first come first served.
    ///
    /// # Safety
    ///
    /// The caller owns `node`, uses it with these permits and this `wanted` only, and calls
    /// [`cancel`](Self::cancel) with it before it goes away.
    #[inline]
    pub(crate) unsafe fn poll_acquire(
        &self,
        node: Pin<&Waiter<Need>>,
        wanted: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Denied>> {
        ready!(context::check_budget(cx));
        let result = match node.phase() {
            Phase::Idle => match self.try_acquire(wanted) {
                // SAFETY: passed on from the caller.
                Err(Denied::NotNow) => unsafe { self.enqueue(node, wanted, cx) },
                now => Poll::Ready(now),
            },
            // SAFETY: passed on from the caller.
            _ => unsafe { self.queue.poll(node, cx) }.map(|outcome| match outcome {
                GRANTED => Ok(()),
                _ => Err(Denied::Closed),
            }),
        };
        if result.is_ready() {
            context::spend();
        }
        result
    }

    /// # Safety
    ///
    /// As for [`poll_acquire`](Self::poll_acquire); the node is idle.
    #[cold]
    unsafe fn enqueue(
        &self,
        node: Pin<&Waiter<Need>>,
        wanted: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Denied>> {
        // Foreign code: before the lock. Dropped after it, where it is not needed.
        let waker = cx.waker().clone();
        let mut queue = self.queue.lock();
        // Relaxed: only a first guess for the exchange below.
        let mut word = self.word.load(Relaxed);
        let collected = loop {
            if word & CLOSED != 0 {
                return Poll::Ready(Err(Denied::Closed));
            }
            let taken = wanted.min(Self::free(word));
            let waits = if taken < wanted { WAITERS } else { 0 };
            let next = (word - (taken << SHIFT)) | waits;
            // Acquire: as in `try_acquire`.
            match self.word.compare_exchange_weak(word, next, Acquire, Relaxed) {
                Ok(_) => break taken,
                Err(now) => word = now,
            }
        };
        if collected == wanted {
            return Poll::Ready(Ok(()));
        }
        let need = Need { missing: wanted - collected, collected };
        // SAFETY: the payload of an idle node is its owner's, who is the caller.
        node.payload().with_mut(|payload| unsafe { *payload = need });
        // SAFETY: passed on from the caller.
        unsafe { queue.push_back(node, Some(waker)) };
        Poll::Pending
    }

    /// Ends a wait before its node goes away: whatever it had been given passes on.
    ///
    /// # Safety
    ///
    /// As for [`poll_acquire`](Self::poll_acquire).
    #[inline]
    pub(crate) unsafe fn cancel(&self, node: Pin<&Waiter<Need>>, wanted: usize) {
        if node.phase() != Phase::Idle {
            // SAFETY: passed on from the caller.
            unsafe { self.leave(node, wanted) };
        }
    }

    /// # Safety
    ///
    /// As for [`poll_acquire`](Self::poll_acquire).
    #[cold]
    unsafe fn leave(&self, node: Pin<&Waiter<Need>>, wanted: usize) {
        let mut queue = self.queue.lock();
        // SAFETY: passed on from the caller.
        match unsafe { queue.remove(node) } {
            Removed::Waiting(waker) => {
                // SAFETY: the node is idle now, and its payload the owner's.
                let collected = node.payload().with(|need| unsafe { (*need).collected });
                self.serve(queue, collected);
                // Foreign code: after the lock.
                drop(waker);
            }
            Removed::Done(GRANTED) => self.serve(queue, wanted),
            Removed::Done(_) | Removed::Idle => {}
        }
    }

    /// The debt of a word. There is none where the user counts above the permits.
    #[inline]
    const fn debt_of(word: usize) -> usize {
        let free = word.cast_signed() >> SHIFT;
        if L::FREE_BITS == Whole::FREE_BITS && free < 0 { free.unsigned_abs() } else { 0 }
    }
}

#[cfg(all(test, loom))]
#[path = "tests/permits_models.rs"]
mod models;
