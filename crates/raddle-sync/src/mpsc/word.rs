//! The word of a channel: places, positions and flags, changed together.
//!
//! | bits | field |
//! |---|---|
//! | 0 | CLOSED: no new places (`permits.rs`) |
//! | 1 | WAITERS: senders wait for places (`permits.rs`) |
//! | 2.. | free places; no bits in a channel without a bound |
//! | next | GONE: the receiver is dropped |
//! | next | ASLEEP: the receiver waits for the first position that is not claimed |
//! | above | tail: how many positions were claimed; wraps around |
//!
//! A send without waiting takes a place and the next position in one exchange; without a bound
//! it is one addition. Whoever changes the word to claim a position sees in the same step whether
//! the receiver is asleep, so that no second look is needed after the value was put down.
//!
//! Positions of a bounded channel have 32 bits less than the word, and are compared by distance:
//! at most 2^28 are in use at a time.

use std::marker::PhantomData;

use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use super::kind::Kind;
use crate::permits::{Denied, Permits};

/// The counting core of `permits.rs`, with the channel's fields above the free places.
pub(super) struct Word<K> {
    pub(super) permits: Permits<K>,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Word<K> {
    const GONE: usize = 1 << Permits::<K>::ABOVE;
    const ASLEEP: usize = 2 << Permits::<K>::ABOVE;
    const SHIFT: u32 = Permits::<K>::ABOVE + 2;
    const ONE: usize = 1 << Self::SHIFT;
    /// All bits of a position.
    const POSITIONS: usize = usize::MAX >> Self::SHIFT;
    /// Positions further apart than this are in the opposite order.
    pub(super) const FURTHEST: usize = Self::POSITIONS / 2;

    /// With so many free places, and `first` as the first position.
    pub(super) fn new(places: usize, first: usize) -> Self {
        let permits = Permits::new(places);
        // Relaxed: the maker is alone.
        permits.word().fetch_add(first << Self::SHIFT, Relaxed);
        Word { permits, kind: PhantomData }
    }

    /// How far `to` is ahead of `from`.
    #[inline]
    pub(super) fn distance(from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & Self::POSITIONS
    }

    #[inline]
    pub(super) fn after(position: usize, count: usize) -> usize {
        position.wrapping_add(count) & Self::POSITIONS
    }

    /// The first position that was not claimed when the word was this.
    #[inline]
    pub(super) fn tail(word: usize) -> usize {
        word >> Self::SHIFT
    }

    #[inline]
    pub(super) fn is_gone(word: usize) -> bool {
        word & Self::GONE != 0
    }

    #[inline]
    pub(super) fn is_asleep(word: usize) -> bool {
        word & Self::ASLEEP != 0
    }

    /// Takes a place and the next position, if a place is free. Returns the word as it was.
    #[inline]
    pub(super) fn claim_place(&self) -> Result<usize, Denied> {
        // Acquires: see `claim`.
        self.permits.try_acquire_and_add(1, Self::ONE)
    }

    /// Takes the next position. Returns the word as it was.
    #[inline]
    pub(super) fn claim(&self) -> usize {
        // Acquire: `last` as it was moved before the tail was read for a release (`blocks.rs`);
        // and the waker of a receiver that is asleep. The addition carries release sequences on.
        self.permits.word().fetch_add(Self::ONE, Acquire)
    }

    #[inline]
    pub(super) fn load(&self) -> usize {
        // Acquire: what was done under places that came back, and what led to the end.
        self.permits.word().load(Acquire)
    }

    /// The tail, after all that this thread did was published to those who claim from now on.
    pub(super) fn tail_and_publish(&self) -> usize {
        // Release: see above. Acquire: not needed, and free.
        Self::tail(self.permits.word().fetch_or(0, AcqRel))
    }

    /// Puts the receiver to sleep if the word is still as it saw it.
    pub(super) fn sleep(&self, seen: usize) -> bool {
        let word = self.permits.word();
        // Release: the claim that sees this finds the waker. Relaxed on failure: looked at again.
        word.compare_exchange(seen, seen | Self::ASLEEP, AcqRel, Relaxed).is_ok()
    }

    /// The receiver is awake.
    pub(super) fn awake(&self) {
        // Relaxed: nothing is published; a claim that comes too early for it wakes for no reason.
        self.permits.word().fetch_and(!Self::ASLEEP, Relaxed);
    }

    /// Marks the receiver as gone, and returns the tail at that time: no later claim is honoured.
    pub(super) fn leave(&self) -> usize {
        // AcqRel: who sees the end sees what led to it, and the other way round.
        Self::tail(self.permits.word().fetch_or(Self::GONE, AcqRel))
    }

    /// Closes, and returns the tail at that time.
    pub(super) fn close(&self) -> usize {
        Self::tail(self.permits.close())
    }
}
