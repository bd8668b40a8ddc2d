//! What is known about a descriptor's readiness, in one word with a tick.
//!
//! # Question
//!
//! epoll reports an edge once. A task then reads until nothing is left and clears the mark. How
//! is it made sure that it never clears the mark of an edge that came after its last read, which
//! would never be reported again?
//!
//! # States
//!
//! ```text
//!  63                                 8 7        6   5     4     3       2      1      0
//! ┌────────────────────────────────────┬──────────┬─────┬─────┬───────┬───────┬──────┬──────┐
//! │ tick: events so far                │ (unused) │ MORE│ GONE│ W_SHUT│ R_SHUT│ WRITE│ READ │
//! └────────────────────────────────────┴──────────┴─────┴─────┴───────┴───────┴──────┴──────┘
//! ```
//!
//! Reading may be tried if READ, R_SHUT or GONE is set, writing if WRITE, W_SHUT or GONE is. GONE
//! stays for ever: the source was closed. MORE says that waiters stand in the queue, beside the
//! one reader and the one writer: the next event takes the bit and releases them all.
//!
//! # Protocol
//!
//! An event sets bits and adds one to the tick. A reader takes a *snapshot*, tries, and on "would
//! block" clears its bits only if the tick is still that of the snapshot.
//!
//! # Race
//!
//! Snapshot; the kernel says "would block"; data arrives and its event sets READ again; the reader
//! clears. With the tick it does not: it differs. A tick of a few bits could have come round to
//! the same value in between; one of 56 bits cannot (228 years at ten million events a second).
//!
//! # Proof
//!
//! Both changes are read-modify-writes of one word, so they are in one order. If the clear comes
//! first, the event sets the bit after it. If the event comes first, the clear finds another tick
//! and leaves the word alone. That a waiter sees the bit or is woken is the argument of the
//! waiter cell: register, then look again. Model: `model_clear_keeps_a_later_event`.

use crate::interest::{Direction, Interest, Waited};
use raddle_base::shim::atomic::{AtomicU64, Ordering};

const READ: u64 = 1 << 0;
const WRITE: u64 = 1 << 1;
const READ_SHUT: u64 = 1 << 2;
const WRITE_SHUT: u64 = 1 << 3;
const GONE: u64 = 1 << 4;
const MORE: u64 = 1 << 5;
const TICK: u64 = 1 << 8;

/// The word.
#[derive(Debug)]
pub(crate) struct Readiness(AtomicU64);

/// The word as it was at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot(u64);

/// What an event says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits(u64);

impl Bits {
    /// Translates the kernel's events. A hang-up or an error ends waits of both directions: the
    /// call that follows learns what it is.
    #[inline]
    pub(crate) fn from_epoll(events: u32) -> Bits {
        let has = |flag: libc::c_int| events & flag as u32 != 0;
        let mut bits = 0;
        if has(libc::EPOLLIN | libc::EPOLLPRI) {
            bits |= READ;
        }
        if has(libc::EPOLLOUT) {
            bits |= WRITE;
        }
        if has(libc::EPOLLRDHUP) {
            bits |= READ | READ_SHUT;
        }
        if has(libc::EPOLLHUP | libc::EPOLLERR) {
            bits |= READ | WRITE | READ_SHUT | WRITE_SHUT;
        }
        Bits(bits)
    }

    /// Everything may be tried: said of a source that is new to a loop.
    pub(crate) fn all() -> Bits {
        Bits(READ | WRITE)
    }

    #[inline]
    pub(crate) fn allows(self, direction: Direction) -> bool {
        self.0 & mask(direction) != 0
    }

    /// The directions in which an event of these bits ends waits.
    pub(crate) fn waited(self) -> Waited {
        [Direction::Read, Direction::Write]
            .into_iter()
            .filter(|&direction| self.allows(direction))
            .fold(0, |bits, direction| bits | Interest::of(direction).bits())
    }
}

#[inline]
fn mask(direction: Direction) -> u64 {
    match direction {
        Direction::Read => READ | READ_SHUT | GONE,
        Direction::Write => WRITE | WRITE_SHUT | GONE,
    }
}

impl Snapshot {
    /// Whether this direction may be tried.
    #[inline]
    pub(crate) fn allows(self, direction: Direction) -> bool {
        self.0 & mask(direction) != 0
    }

    /// Whether the source was closed.
    #[inline]
    pub(crate) fn is_gone(self) -> bool {
        self.0 & GONE != 0
    }
}

impl Readiness {
    /// A new source: everything may be tried, which costs one call and saves an event.
    pub(crate) fn new() -> Readiness {
        Readiness(AtomicU64::new(Bits::all().0))
    }

    /// The word now.
    #[inline]
    pub(crate) fn snapshot(&self) -> Snapshot {
        // Acquire: who sees a bit sees what its setter did before.
        Snapshot(self.0.load(Ordering::Acquire))
    }

    /// An event: sets bits and moves the tick. True if waiters stand in the queue.
    #[inline]
    #[must_use]
    pub(crate) fn set(&self, bits: Bits) -> bool {
        self.change(|word| Some(((word | bits.0) & !MORE).wrapping_add(TICK))) & MORE != 0
    }

    /// The source is closed: every wait ends, for good. True if waiters stand in the queue.
    #[must_use]
    pub(crate) fn set_gone(&self) -> bool {
        self.change(|word| Some(((word | GONE) & !MORE).wrapping_add(TICK))) & MORE != 0
    }

    /// Somebody has joined the queue: the next event releases it. The word as it is now.
    pub(crate) fn announce_waiter(&self) -> Snapshot {
        Snapshot(self.change(|word| Some(word | MORE)))
    }

    /// A stream gave or took less than was asked: it is drained or full, unless an event came
    /// since `seen`. What the other side has ended stays ended: that was reported once, too.
    #[inline]
    pub(crate) fn clear_drained(&self, seen: Snapshot, direction: Direction) {
        let bits = mask(direction) & (READ | WRITE);
        let _ = self.change(|word| (word / TICK == seen.0 / TICK).then_some(word & !bits));
    }

    /// The direction would block, unless an event came since `seen`.
    ///
    /// "Would block" also says that the other side has not hung up, so those bits go too: a named
    /// pipe gets new writers after a hang-up.
    #[inline]
    pub(crate) fn clear(&self, seen: Snapshot, direction: Direction) {
        let bits = mask(direction) & !GONE;
        let _ = self.change(|word| (word / TICK == seen.0 / TICK).then_some(word & !bits));
    }

    #[inline]
    fn change(&self, next: impl Fn(u64) -> Option<u64>) -> u64 {
        // Relaxed: a first guess, checked by the exchange.
        let mut seen = self.0.load(Ordering::Relaxed);
        while let Some(new) = next(seen) {
            // Release: publishes what led to the bits to whoever acquires the word. Acquire keeps
            // the order between events of two threads that process them (owner and rescuer).
            let order = Ordering::AcqRel;
            match self.0.compare_exchange_weak(seen, new, order, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        seen
    }
}

#[cfg(test)]
#[path = "tests/readiness.rs"]
mod tests;
