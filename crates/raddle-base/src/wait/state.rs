//! The state of a waiter's node: what has become of the wait, and what it waits for.
//!
//! | bits | field | meaningful |
//! |---|---|---|
//! | 0–1 | phase: idle 0, waiting 1, done 2 | always |
//! | 8–15 | outcome, chosen by whoever ended the wait | when done |
//!
//! | from | to | by | under the queue's lock |
//! |---|---|---|---|
//! | idle | waiting | owner, with the node linked | yes |
//! | waiting | done(outcome) | whoever grants, with the node unlinked | yes |
//! | waiting | idle | owner that gives up, with the node unlinked | yes |
//! | done | idle | owner that has seen it | no |
//!
//! All writers but the last hold the lock, and the last one is alone with the node, so plain
//! stores of the whole word suffice. Only the owner reads without the lock: it can see `waiting`
//! late, never wrongly. The [`WaitKind`] is a byte beside the word and never changes.

use crate::shim::atomic::AtomicU32;
use crate::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::wait::site::WaitKind;

const IDLE: u32 = 0;
const WAITING: u32 = 1;
const DONE: u32 = 2;
const PHASE: u32 = 0b11;
const OUTCOME_SHIFT: u32 = 8;

/// What has become of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Not in a queue: not begun, given up, or its end was seen.
    Idle,
    /// In a queue.
    Waiting,
    /// Ended by somebody else, with the outcome they chose.
    Done(u8),
}

/// The word and the kind. The verbs are the rows of the table above.
#[derive(Debug)]
pub(crate) struct NodeState {
    word: AtomicU32,
    kind: WaitKind,
}

impl NodeState {
    crate::const_unless_loom! {
        pub(crate) const fn new(kind: WaitKind) -> Self {
            NodeState { word: AtomicU32::new(IDLE), kind }
        }
    }

    /// What has become of the wait. After `Done`, all that its granter did before is visible, and
    /// the granter is through with the node.
    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        // Acquire: pairs with the release in `grant`; this load is all it takes to finish a wait.
        decode(self.word.load(Acquire))
    }

    /// Whether the owner, who asks, has begun no wait, or has seen its end.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        // Relaxed: only the owner makes a node idle, or takes it out of that.
        self.word.load(Relaxed) == IDLE
    }

    /// The same for a caller that holds the queue's lock.
    #[inline]
    pub(crate) fn phase_locked(&self) -> Phase {
        // Relaxed: every write of `waiting` and `done` happens under the lock the caller holds.
        decode(self.word.load(Relaxed))
    }

    #[inline]
    pub(crate) fn kind(&self) -> WaitKind {
        self.kind
    }

    /// Idle → waiting, by the owner under the lock.
    #[inline]
    pub(crate) fn begin(&self) {
        // Relaxed: published by the lock.
        self.word.store(WAITING, Relaxed);
    }

    /// Waiting → done, under the lock, as the granter's last touch of the node.
    #[inline]
    pub(crate) fn grant(&self, outcome: u8) {
        // Release: the owner may finish and free the node as soon as it sees this, so the
        // granter's accesses to the node, and what it did before, must be over by then.
        self.word.store(u32::from(outcome) << OUTCOME_SHIFT | DONE, Release);
    }

    /// Waiting or done → idle, by the owner: under the lock in the first case.
    #[inline]
    pub(crate) fn end(&self) {
        // Relaxed: the owner alone will look at the node next.
        self.word.store(IDLE, Relaxed);
    }
}

#[inline]
fn decode(word: u32) -> Phase {
    match word & PHASE {
        IDLE => Phase::Idle,
        WAITING => Phase::Waiting,
        _ => Phase::Done((word >> OUTCOME_SHIFT) as u8),
    }
}
