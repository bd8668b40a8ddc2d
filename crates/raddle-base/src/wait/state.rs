//! The word of a waiter's node: what has become of the wait, and what it waits for.
//!
//! | bits | field | written by |
//! |---|---|---|
//! | 0–1 | phase: idle 0, waiting 1, done 2 | owner and queue, see below |
//! | 8–15 | outcome, meaningful when done | whoever ends the wait |
//! | 16–23 | [`WaitKind`] | never after construction |
//!
//! | from | to | by | under the queue's lock |
//! |---|---|---|---|
//! | idle | waiting | owner, with the node linked | yes |
//! | waiting | done(outcome) | whoever grants, with the node unlinked | yes |
//! | waiting | idle | owner that gives up, with the node unlinked | yes |
//! | done | idle | owner that has seen it | no |
//!
//! All writers but the last hold the lock, and the last one is alone with the node, so stores
//! suffice. Only the owner reads without the lock: it can see `waiting` late, never wrongly.

use crate::shim::atomic::AtomicU32;
use crate::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::wait::site::WaitKind;

const IDLE: u32 = 0;
const WAITING: u32 = 1;
const DONE: u32 = 2;
const PHASE: u32 = 0b11;
const OUTCOME_SHIFT: u32 = 8;
const KIND_SHIFT: u32 = 16;
const KIND: u32 = 0xff << KIND_SHIFT;

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

/// The word. Its verbs are the rows of the table above.
#[derive(Debug)]
pub(crate) struct NodeState(AtomicU32);

impl NodeState {
    crate::const_unless_loom! {
        pub(crate) const fn new(kind: WaitKind) -> Self {
            NodeState(AtomicU32::new((kind as u32) << KIND_SHIFT))
        }
    }

    /// What has become of the wait. After `Done`, all that its granter did before is visible, and
    /// the granter is through with the node.
    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        // Acquire: pairs with the release in `grant`; this load is all it takes to finish a wait.
        decode(self.0.load(Acquire))
    }

    /// The same for a caller that holds the queue's lock.
    #[inline]
    pub(crate) fn phase_locked(&self) -> Phase {
        // Relaxed: every write of `waiting` and `done` happens under the lock the caller holds.
        decode(self.0.load(Relaxed))
    }

    #[inline]
    pub(crate) fn kind(&self) -> WaitKind {
        // Relaxed: these bits never change.
        WaitKind::from_byte((self.0.load(Relaxed) >> KIND_SHIFT) as u8)
    }

    /// Idle → waiting, by the owner under the lock.
    #[inline]
    pub(crate) fn begin(&self) {
        // Relaxed: published by the lock.
        self.0.store(self.kind_bits() | WAITING, Relaxed);
    }

    /// Waiting → done, under the lock, as the granter's last touch of the node.
    #[inline]
    pub(crate) fn grant(&self, outcome: u8) {
        let word = self.kind_bits() | u32::from(outcome) << OUTCOME_SHIFT | DONE;
        // Release: the owner may finish and free the node as soon as it sees this, so the
        // granter's accesses to the node, and what it did before, must be over by then.
        self.0.store(word, Release);
    }

    /// Waiting or done → idle, by the owner: under the lock in the first case.
    #[inline]
    pub(crate) fn end(&self) {
        // Relaxed: the owner alone will look at the node next.
        self.0.store(self.kind_bits(), Relaxed);
    }

    #[inline]
    fn kind_bits(&self) -> u32 {
        // Relaxed: these bits never change.
        self.0.load(Relaxed) & KIND
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
