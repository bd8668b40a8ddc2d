//! Who sleeps, who searches, and how work that appears finds somebody to run it.
//!
//! # Question
//!
//! A worker that finds nothing goes to sleep while another thread publishes work. How is it made
//! certain that the work is seen, with at most one wake-up sent for it, and none at all while
//! somebody is already searching?
//!
//! # States
//!
//! Each worker has a sleep word:
//!
//! | word | meaning | leaves by |
//! |---|---|---|
//! | AWAKE | runs, or looks for work | the worker itself, to ASLEEP |
//! | ASLEEP | about to block, or blocked | a claim by a waker; or the worker, by itself |
//! | CALLED | claimed: something is in its own inbox or driver | the worker, to AWAKE |
//! | SENT | claimed: it is to search on behalf of the waker | the worker, to AWAKE, searching |
//! | DOZING | as ASLEEP, but in no count: called, never sent | as ASLEEP |
//!
//! The runtime has one word with two counts: `sleeping` (words that are ASLEEP) and `searching`
//! (workers that look through others' queues, those that are SENT included).
//!
//! # Protocol
//!
//! *To sleep*: move this worker's count from searching to sleeping in one step, store ASLEEP, then
//! a full fence, then one more look at everything that work can come from; only then
//! block. *To publish*: put the work where it will be looked for, then a full fence, then read
//! the counts (for work anybody may run) or the sleep word (for work of one worker). *To wake*:
//! claim the sleep word by compare-and-swap from ASLEEP; whoever wins adjusts the counts and
//! sends the one wake-up. *To stop searching with a find*: give up the count; the last one to do
//! so wakes one more, because there may be more work and nobody else looks for it.
//!
//! # Race
//!
//! The publisher reads the counts before the sleeper moved its own, and sees nobody asleep; the
//! sleeper looked before the work was published. Both at once is impossible: of two full fences
//! one comes first. If the publisher's does, the sleeper's last look sees the work. If the
//! sleeper's does, the publisher sees it asleep. If it sees it searching, the count moves only in
//! the step before the sleeper's fence, so that same last look is still to come.
//!
//! # Proof
//!
//! Each wake-up belongs to one successful claim of one sleep word, and each ASLEEP is left by one
//! step: so there is one wake-up per sleep at most, and none for a worker that is awake. The
//! models in the tests run a sleeper against a publisher, two sleepers against one, and a
//! searcher that gives up against a publisher that saw it searching.

use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use raddle_base::shim::atomic::{AtomicU32, AtomicU64, fence};

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;
const CALLED: u32 = 2;
const SENT: u32 = 3;
const DOZING: u32 = 4;

const SLEEPER: u64 = 1;
const SEARCHER: u64 = 1 << 32;

/// A worker's own sleep word.
pub(crate) struct SleepWord(AtomicU32);

/// The counts.
pub(crate) struct Idle(AtomicU64);

/// How a worker came back from its sleep.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Awake {
    /// Something of its own: an event, a deadline, its inbox.
    Own,
    /// It was sent to search, and counts as searching.
    Searching,
}

impl SleepWord {
    raddle_base::const_unless_loom! {
        pub(crate) const fn new() -> Self {
            SleepWord(AtomicU32::new(AWAKE))
        }
    }

    raddle_base::const_unless_loom! {
        /// Of a worker that has no thread yet: it counts as dozing, and awakes when it has one.
        pub(crate) const fn unborn() -> Self {
            SleepWord(AtomicU32::new(DOZING))
        }
    }

    /// Whether the worker runs or looks for work. Exact only around a full fence.
    pub(crate) fn is_awake(&self) -> bool {
        // Relaxed: a hint, or ordered by the caller's fence.
        self.0.load(Relaxed) == AWAKE
    }

    fn claim(&self, from: u32, to: u32) -> bool {
        // Relaxed: ordered by the publisher's fence. The look spares a write that would fail.
        if self.0.load(Relaxed) != from {
            return false;
        }
        // AcqRel: one waker wins; the sleeper's writes before ASLEEP are visible to it, and its
        // own to the sleeper that reads the claim.
        self.0.compare_exchange(from, to, AcqRel, Relaxed).is_ok()
    }
}

impl Idle {
    raddle_base::const_unless_loom! {
        pub(crate) const fn new() -> Self {
            Idle(AtomicU64::new(0))
        }
    }

    /// The fence between publishing work and asking who should run it.
    #[inline]
    pub(crate) fn published(&self) {
        // SeqCst: pairs with the fence in `fall_asleep`; see the module's race.
        fence(SeqCst);
    }

    /// Whether somebody sleeps while nobody searches. Call it after [`published`](Self::published).
    #[inline]
    pub(crate) fn wants_searcher(&self) -> bool {
        // Relaxed: ordered by the fence.
        let now = self.0.load(Relaxed);
        (SLEEPER..SEARCHER).contains(&now)
    }

    /// Whether somebody sleeps who may be sent to search.
    pub(crate) fn has_sleepers(&self) -> bool {
        // Relaxed: ordered by the caller's fence, or a hint.
        !self.0.load(Relaxed).is_multiple_of(SEARCHER)
    }

    /// Claims `word`'s sleeper for a search on the caller's behalf. True: send the wake-up.
    pub(crate) fn send(&self, word: &SleepWord) -> bool {
        if !word.claim(ASLEEP, SENT) {
            return false;
        }
        // SeqCst: the count of searchers is read against fences like any other.
        self.0.fetch_add(SEARCHER - SLEEPER, SeqCst);
        true
    }

    /// Claims `word`'s sleeper for something of its own. True: send the wake-up.
    pub(crate) fn call(&self, word: &SleepWord) -> bool {
        if word.claim(DOZING, CALLED) {
            return true;
        }
        if !word.claim(ASLEEP, CALLED) {
            return false;
        }
        // SeqCst: as in `send`.
        self.0.fetch_sub(SLEEPER, SeqCst);
        true
    }

    /// A worker begins to search, unless half of the `active` ones do so already.
    pub(crate) fn begin_search(&self, active: usize) -> bool {
        // Relaxed: the limit is a matter of thrift, not of correctness.
        if 2 * (self.0.load(Relaxed) / SEARCHER) >= active as u64 {
            return false;
        }
        // SeqCst: a publisher that sees this relies on the look that follows.
        self.0.fetch_add(SEARCHER, SeqCst);
        true
    }

    /// A searching worker has found work. True: it was the last one, and should wake another.
    pub(crate) fn end_search(&self) -> bool {
        // SeqCst: ordered against publishers' fences.
        self.0.fetch_sub(SEARCHER, SeqCst) / SEARCHER == 1
    }

    /// The worker of `word` is about to block. After this it must look at everything once more.
    pub(crate) fn fall_asleep(&self, word: &SleepWord, searching: bool) {
        let change = if searching { SLEEPER.wrapping_sub(SEARCHER) } else { SLEEPER };
        // SeqCst: ordered against publishers' fences. Before the word, so that a claim never
        // takes from a count that is not there yet.
        self.0.fetch_add(change, SeqCst);
        // Relaxed: the fence below comes before the last look.
        word.0.store(ASLEEP, Relaxed);
        // SeqCst: pairs with the fence in `published`.
        fence(SeqCst);
    }

    /// As [`fall_asleep`](Self::fall_asleep), for one that cannot be sent to search.
    pub(crate) fn doze(&self, word: &SleepWord) {
        // Relaxed: the fence below comes before the last look.
        word.0.store(DOZING, Relaxed);
        // SeqCst: pairs with the fence in `published`.
        fence(SeqCst);
    }

    /// The worker of `word` runs again, whoever woke it.
    pub(crate) fn awake(&self, word: &SleepWord) -> Awake {
        // Acquire: what the claimer did before is visible.
        match word.0.swap(AWAKE, Acquire) {
            ASLEEP => {
                // SeqCst: as in `call`.
                self.0.fetch_sub(SLEEPER, SeqCst);
                Awake::Own
            }
            SENT => Awake::Searching,
            _ => Awake::Own,
        }
    }

    /// How many sleep and how many search: for people.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> (u64, u64) {
        let now = self.0.load(Relaxed);
        (now % SEARCHER, now / SEARCHER)
    }
}

#[cfg(test)]
#[path = "tests/idle.rs"]
mod tests;
