//! The state word of a task and its verbs: one word decides everything, by one step each.
//!
//! # Question
//!
//! A task is polled by one worker at a time, woken from anywhere, aborted from anywhere, joined
//! by one handle, and freed when nobody can reach it any more. How is each of these decided by a
//! single step on a single word, so that no two of them can disagree?
//!
//! # States
//!
//! | bit | name | meaning |
//! |---|---|---|
//! | 0 | RUNNING | claimed: being polled, or in a queue since it was spawned or yielded |
//! | 1 | NOTIFIED | a poll is owed; without RUNNING the task is in one queue, or on its way |
//! | 2 | COMPLETE | the future is gone; the output is stored, taken, or dropped. Final |
//! | 3 | CANCELLED | an abort was asked for; the next claimant drops the future |
//! | 4 | JOIN_INTEREST | the join handle lives |
//! | 5 | JOIN_WAKER | the join waker cell is filled: the completer's to read |
//! | 6 | PINNED | polled and dropped on its home worker only; changes only while RUNNING |
//! | 16.. | references | live list, run reference, join handle, wakers, abort handles |
//!
//! | RUNNING | NOTIFIED | COMPLETE | the task is |
//! |---|---|---|---|
//! | 0 | 0 | 0 | idle: waits for a wake |
//! | 0 | 1 | 0 | queued by a wake; the queue holds the run reference |
//! | 1 | 0 | 0 | being polled, or queued as new or yielded; the run reference is with it |
//! | 1 | 1 | 0 | the same, and woken meanwhile: polled once more |
//! | 0 | any | 1 | finished |
//!
//! # Protocol
//!
//! A new task starts RUNNING and in a queue, and a task that yields stays RUNNING and goes back
//! into a queue. Neither touches the word: the claim simply lasts from poll to poll, and a wake
//! that comes meanwhile only sets NOTIFIED. The next [`start`](State::start) is then one load.
//! All other verbs are one compare-and-swap, each with an outcome that tells the caller what it
//! now owes.
//!
//! PINNED is given for life, or set and cleared by the task itself during a poll, when it is in no
//! queue; its home is written before the bit. So whoever gets the claim or the run reference later
//! sees both as that poll left them. A look without the claim is a hint: look again with it.
//!
//! # Race
//!
//! *Wake against the end of a poll.* The poller leaves by [`idle`](State::idle); a waker sets
//! NOTIFIED. Both are read-modify-writes of one word: if the wake comes first, `idle` sees it and
//! the poller queues the task again; if `idle` comes first, the wake finds an idle task and
//! queues it itself. *Wake against a wake*: the second finds NOTIFIED and owes nothing, but still
//! writes the word, so that what it published before is visible to the poll that is owed (a mere
//! load would allow the store-buffer outcome in which neither side sees the other).
//! *Completion against the join handle's waker*: the cell is the handle's to write while
//! JOIN_WAKER is clear, the completer's to read once COMPLETE and JOIN_WAKER are set; both bits
//! change in this word, so one of the two always sees the other.
//!
//! # Proof
//!
//! The run reference exists in exactly one place: created by the wake that leaves idle (or by
//! spawn), consumed by `idle` or by completion. Hence a task is in at most one queue and polled
//! by at most one thread. The models in `tests` check wake against poll, abort against poll,
//! completion against join, and join-waker exchange, with non-atomic payloads.

use raddle_base::shim::atomic::AtomicU64;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

const RUNNING: u64 = 1;
const NOTIFIED: u64 = 1 << 1;
const COMPLETE: u64 = 1 << 2;
const CANCELLED: u64 = 1 << 3;
const JOIN_INTEREST: u64 = 1 << 4;
const JOIN_WAKER: u64 = 1 << 5;
const PINNED: u64 = 1 << 6;
const REF_ONE: u64 = 1 << 16;
/// More references than this mean a loop that forgets wakers: stop before the count wraps.
const REF_LIMIT: u64 = 1 << 62;

/// The word.
pub(crate) struct State(AtomicU64);

/// What a worker that took the task from a queue does with it.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Start {
    /// Poll it.
    Poll,
    /// Drop the future and complete as cancelled.
    Cancel,
}

/// What follows a poll that returned `Pending`.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Idle {
    /// Nothing: the next wake will queue the task. The run reference is gone.
    Parked,
    /// It was woken meanwhile: queue it again, with the run reference.
    Again,
}

/// What a wake or an abort owes.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Wake {
    /// Nothing.
    Nothing,
    /// Queue the task; the run reference has been made.
    Schedule,
    /// The last reference is gone: free the task.
    Dealloc,
}

/// What the completer owes.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Completed {
    /// Nothing: the references have been given up.
    Released,
    /// The join waker cell is filled and now the completer's: take it and wake it, then give up
    /// the references.
    WakeJoiner,
    /// Nobody will read the output: drop it, then give up the references.
    DropOutput,
}

/// How far the fast end of a join handle came.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Fast {
    /// The handle is gone, with its reference.
    Detached,
    /// The task is finished: the output is the handle's to drop, then
    /// [`unjoin_complete`](State::unjoin_complete).
    Complete,
    /// Neither: use [`unjoin`](State::unjoin).
    Slow,
}

/// What a dropped join handle owes.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) struct Unjoined {
    /// The output is stored and nobody else will drop it.
    pub(crate) drop_output: bool,
    /// The join waker cell is the handle's: empty it.
    pub(crate) drop_waker: bool,
}

/// What the word says to somebody who only looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) phase: Phase,
    /// An abort was asked for.
    pub(crate) cancelled: bool,
    pub(crate) pinned: bool,
}

/// The rows of the table above, for somebody who only looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waits for a wake.
    Idle,
    /// Queued by a wake.
    Woken,
    /// Being polled, or queued as new, as yielded, or as woken while it ran.
    Claimed,
    /// Finished.
    Complete,
}

impl State {
    /// A new task: RUNNING, with references for the live list, the queue and the join handle.
    pub(crate) fn new(pinned: bool) -> Self {
        let kind = if pinned { PINNED } else { 0 };
        State(AtomicU64::new(RUNNING | JOIN_INTEREST | kind | (3 * REF_ONE)))
    }

    /// Whether the task may be polled on its home worker only.
    ///
    /// Exact for who holds the claim or the run reference; a hint for others.
    #[inline]
    pub(crate) fn is_pinned(&self) -> bool {
        // Relaxed: the bit changes during a poll only, and whoever holds the claim now acquired it
        // from the end of that poll.
        self.0.load(Relaxed) & PINNED != 0
    }

    /// The task that is being polled stays on the worker that polls it, which has written the
    /// home. For the claimant.
    pub(crate) fn pin(&self) {
        // Relaxed: published by the verb that ends the poll, with all the poll did.
        let before = self.0.fetch_or(PINNED, Relaxed);
        debug_assert!(before & RUNNING != 0);
    }

    /// The task that is being polled may go to any worker again. For the claimant.
    pub(crate) fn unpin(&self) {
        // Relaxed: as in `pin`.
        let before = self.0.fetch_and(!PINNED, Relaxed);
        debug_assert!(before & RUNNING != 0);
    }

    /// Whether the task is finished. True also means that the output may be read.
    #[inline]
    pub(crate) fn is_complete(&self) -> bool {
        // Acquire: pairs with the release of `complete`, so the output is visible.
        self.0.load(Acquire) & COMPLETE != 0
    }

    /// What the word says now: for dumps.
    pub(crate) fn seen(&self) -> Seen {
        // Acquire: an idle task's note was written before it became idle.
        let now = self.0.load(Acquire);
        let phase = match (now & COMPLETE != 0, now & RUNNING != 0, now & NOTIFIED != 0) {
            (true, ..) => Phase::Complete,
            (_, true, _) => Phase::Claimed,
            (_, _, true) => Phase::Woken,
            _ => Phase::Idle,
        };
        Seen { phase, cancelled: now & CANCELLED != 0, pinned: now & PINNED != 0 }
    }

    /// A worker took the task from a queue.
    #[inline]
    pub(crate) fn start(&self) -> Start {
        // Relaxed: what the queue's last holder wrote is visible through the queue. A wake that
        // this misses stays set and is found by the `idle` that ends the poll.
        let seen = self.0.load(Relaxed);
        if seen & (NOTIFIED | CANCELLED | RUNNING) == RUNNING {
            return Start::Poll;
        }
        self.start_claim(seen)
    }

    fn start_claim(&self, seen: u64) -> Start {
        debug_assert!(seen & COMPLETE == 0, "a finished task was queued");
        let before = self.update(seen, |now| Some((now | RUNNING) & !NOTIFIED)).unwrap_or(seen);
        if before & CANCELLED != 0 { Start::Cancel } else { Start::Poll }
    }

    /// A poll returned `Pending` without a self-yield.
    pub(crate) fn idle(&self) -> Idle {
        let mut outcome = Idle::Parked;
        // Relaxed first look: the exchange decides.
        let seen = self.0.load(Relaxed);
        let _ = self.update(seen, |now| {
            debug_assert!(now & RUNNING != 0 && now & COMPLETE == 0);
            if now & NOTIFIED != 0 {
                outcome = Idle::Again;
                // Stays RUNNING and goes back into a queue, as after a yield.
                return Some(now & !NOTIFIED);
            }
            outcome = Idle::Parked;
            Some((now & !RUNNING) - REF_ONE)
        });
        outcome
    }

    /// The future is gone and the output is stored. If nothing is owed to a joiner, `references`
    /// are given up in the same step; the outcome tells, and the task may be gone afterwards.
    pub(crate) fn complete(&self, references: u64) -> Completed {
        let mut outcome = Completed::Released;
        // Relaxed first look: the exchange decides.
        let seen = self.0.load(Relaxed);
        // Release (by AcqRel): publishes the output to the handle. Acquire: the join waker of the
        // handle that set JOIN_WAKER before is visible.
        let _ = self.update(seen, |now| {
            debug_assert!(now & RUNNING != 0 && now & COMPLETE == 0);
            let next = now ^ (RUNNING | COMPLETE);
            outcome = match (now & JOIN_INTEREST != 0, now & JOIN_WAKER != 0) {
                // The handle has a reference of its own, so these are not the last.
                (true, false) => {
                    outcome = Completed::Released;
                    return Some(next - references * REF_ONE);
                }
                (true, true) => Completed::WakeJoiner,
                (false, _) => Completed::DropOutput,
            };
            Some(next)
        });
        outcome
    }

    /// A wake that keeps its reference.
    pub(crate) fn wake_by_ref(&self) -> Wake {
        let mut outcome = Wake::Nothing;
        // Relaxed first look: the exchange decides, and it always writes (see the module's race).
        let seen = self.0.load(Relaxed);
        let _ = self.update(seen, |now| {
            outcome = Wake::Nothing;
            if now & COMPLETE != 0 {
                return None;
            }
            if now & (RUNNING | NOTIFIED) == 0 {
                outcome = Wake::Schedule;
                return Some((now | NOTIFIED) + REF_ONE);
            }
            Some(now | NOTIFIED)
        });
        outcome
    }

    /// A wake that gives its reference away: to the queue, if it leaves idle.
    pub(crate) fn wake_by_val(&self) -> Wake {
        let mut outcome = Wake::Nothing;
        // Relaxed first look: the exchange decides.
        let seen = self.0.load(Relaxed);
        let _ = self.update(seen, |now| {
            if now & (RUNNING | NOTIFIED | COMPLETE) == 0 {
                outcome = Wake::Schedule;
                return Some(now | NOTIFIED);
            }
            let next = (now | if now & COMPLETE == 0 { NOTIFIED } else { 0 }) - REF_ONE;
            outcome = if next < REF_ONE { Wake::Dealloc } else { Wake::Nothing };
            Some(next)
        });
        outcome
    }

    /// Asks for the end of the task. `Schedule` if it must be queued for that.
    pub(crate) fn abort(&self) -> Wake {
        let mut outcome = Wake::Nothing;
        // Relaxed first look: the exchange decides.
        let seen = self.0.load(Relaxed);
        let _ = self.update(seen, |now| {
            outcome = Wake::Nothing;
            if now & (COMPLETE | CANCELLED) != 0 {
                return None;
            }
            if now & (RUNNING | NOTIFIED) == 0 {
                outcome = Wake::Schedule;
                return Some((now | NOTIFIED | CANCELLED) + REF_ONE);
            }
            Some(now | NOTIFIED | CANCELLED)
        });
        outcome
    }

    /// For shutdown: asks for the end, and claims the task here and now if it is idle. True means
    /// that the caller holds the claim and a run reference, and must drop the future.
    pub(crate) fn claim_to_cancel(&self) -> bool {
        let mut claimed = false;
        // Relaxed first look: the exchange decides.
        let seen = self.0.load(Relaxed);
        let _ = self.update(seen, |now| {
            claimed = false;
            if now & COMPLETE != 0 {
                return None;
            }
            if now & (RUNNING | NOTIFIED) == 0 {
                claimed = true;
                return Some((now | RUNNING | CANCELLED) + REF_ONE);
            }
            // NOTIFIED: a poll that ends now must not park a task that nobody will wake.
            Some(now | NOTIFIED | CANCELLED)
        });
        claimed
    }

    /// For shutdown: asks for the end and nothing else. Whoever may drop the task will come by.
    pub(crate) fn mark_cancelled(&self) {
        // Relaxed first look: the exchange decides.
        let seen = self.0.load(Relaxed);
        // NOTIFIED only on a running one: its poll must not end in idleness; an idle one must not
        // look queued.
        let _ = self.update(seen, |now| {
            let running = if now & RUNNING != 0 { NOTIFIED } else { 0 };
            (now & (COMPLETE | CANCELLED) == 0).then_some(now | CANCELLED | running)
        });
    }

    /// The handle has filled the join waker cell. False if the task completed first: the cell is
    /// then still the handle's.
    pub(crate) fn publish_join_waker(&self) -> bool {
        self.join_waker(|now| now | JOIN_WAKER)
    }

    /// The handle wants the cell back. False if the task completed first: the cell is then the
    /// completer's.
    pub(crate) fn retract_join_waker(&self) -> bool {
        self.join_waker(|now| now & !JOIN_WAKER)
    }

    fn join_waker(&self, change: impl Fn(u64) -> u64) -> bool {
        // Relaxed first look: the exchange decides.
        let seen = self.0.load(Relaxed);
        self.update(seen, |now| (now & COMPLETE == 0).then(|| change(now))).is_some()
    }

    /// Whether the join waker cell is published.
    pub(crate) fn has_join_waker(&self) -> bool {
        // Relaxed: only the handle itself sets and clears the bit before completion.
        self.0.load(Relaxed) & JOIN_WAKER != 0
    }

    /// The join handle is dropped. Its reference stays, to be dropped by the caller last.
    pub(crate) fn unjoin(&self) -> Unjoined {
        let mut outcome = Unjoined { drop_output: false, drop_waker: false };
        // Relaxed first look: the exchange decides.
        let seen = self.0.load(Relaxed);
        let _ = self.update(seen, |now| {
            let complete = now & COMPLETE != 0;
            outcome = Unjoined {
                drop_output: complete,
                // After completion the cell is the completer's.
                drop_waker: !complete && now & JOIN_WAKER != 0,
            };
            let gone = if complete { JOIN_INTEREST } else { JOIN_INTEREST | JOIN_WAKER };
            Some(now & !gone)
        });
        outcome
    }

    /// The common ends of a handle in one step, its reference included: dropped before the task
    /// ran, and dropped after its output was taken.
    #[inline]
    pub(crate) fn unjoin_fast(&self) -> Fast {
        // Acquire: a finished task's output was taken by this handle, or is its to drop.
        let seen = self.0.load(Acquire);
        if seen & COMPLETE != 0 {
            return Fast::Complete;
        }
        let new = RUNNING | JOIN_INTEREST | (3 * REF_ONE);
        // Release: orders the handle's accesses before the free. Relaxed on failure: no claim.
        let gone = seen & !PINNED == new
            && self
                .0
                .compare_exchange(seen, (seen & !JOIN_INTEREST) - REF_ONE, Release, Relaxed)
                .is_ok();
        if gone { Fast::Detached } else { Fast::Slow }
    }

    /// The handle of a finished task goes, its reference with it; true if that was the last.
    #[inline]
    pub(crate) fn unjoin_complete(&self) -> bool {
        // Acquire: the others gave their references up by read-modify-writes that release, so
        // their accesses happen before the free. With one reference left, the handle's, nobody
        // can make another: no exchange is needed to know that it is the last.
        if self.0.load(Acquire) < 2 * REF_ONE {
            return true;
        }
        // AcqRel: as in `ref_dec`. After completion the bit is the handle's alone.
        let before = self.0.fetch_sub(JOIN_INTEREST + REF_ONE, AcqRel);
        debug_assert!(before & JOIN_INTEREST != 0);
        before < 2 * REF_ONE
    }

    /// One more reference.
    #[inline]
    pub(crate) fn ref_inc(&self) {
        // Relaxed: a new reference is made from an existing one.
        if self.0.fetch_add(REF_ONE, Relaxed) > REF_LIMIT {
            std::process::abort();
        }
    }

    /// `count` references less; true if none is left and the task must be freed.
    #[inline]
    pub(crate) fn ref_dec(&self, count: u64) -> bool {
        // AcqRel: the accesses of every holder happen before the free.
        let before = self.0.fetch_sub(count * REF_ONE, AcqRel);
        debug_assert!(before >= count * REF_ONE);
        before < (count + 1) * REF_ONE
    }

    /// Replaces the word by `step` of it until that succeeds or `step` declines; the old word.
    #[inline]
    fn update(&self, seen: u64, mut step: impl FnMut(u64) -> Option<u64>) -> Option<u64> {
        let mut now = seen;
        loop {
            let next = step(now)?;
            // AcqRel: each verb both publishes what its caller did (a wake, a filled cell) and
            // must see what others published (a wake's data, a filled cell). Acquire on failure:
            // a verb that then declines (COMPLETE) reads what completion published.
            match self.0.compare_exchange_weak(now, next, AcqRel, Acquire) {
                Ok(before) => return Some(before),
                Err(current) => now = current,
            }
        }
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Relaxed: a snapshot for people.
        let now = self.0.load(Relaxed);
        f.debug_struct("State")
            .field("running", &(now & RUNNING != 0))
            .field("notified", &(now & NOTIFIED != 0))
            .field("complete", &(now & COMPLETE != 0))
            .field("cancelled", &(now & CANCELLED != 0))
            .field("join_interest", &(now & JOIN_INTEREST != 0))
            .field("join_waker", &(now & JOIN_WAKER != 0))
            .field("pinned", &(now & PINNED != 0))
            .field("references", &(now >> 16))
            .finish()
    }
}

#[cfg(test)]
#[path = "tests/state.rs"]
mod tests;
