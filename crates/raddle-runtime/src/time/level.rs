//! The geometry of the wheel, and one level of it: 64 slots and a word that says which hold
//! something.
//!
//! Time is read as a number with digits of six bits above a tick of 2^14 ns (16.4 µs). Level `n`
//! has a slot for each value of digit `n`; nine levels cover all 64 bits, so no level ever wraps.
//!
//! ```text
//!  bit 63  61        55                                  25      19      13            0
//!      ├─8─┼────7────┼── … ──────────────────────────────┼───1───┼───0───┼─ in the tick ┤
//! ```
//!
//! | level | a slot spans | the level spans |
//! |---|---|---|
//! | 0 | 16.4 µs | 1.05 ms |
//! | 1 | 1.05 ms | 67.1 ms |
//! | 2 | 67.1 ms | 4.29 s |
//! | 3 | 4.29 s | 4.58 min |
//! | 4 | 4.58 min | 4.89 h |
//! | 5 | 4.89 h | 13.0 days |
//! | 6 | 13.0 days | 2.28 years |
//! | 7 | 2.28 years | 146 years |
//! | 8 | 146 years | 584 years (4 slots in use) |

use std::ptr::NonNull;

use raddle_base::list::List;

use crate::time::entry::{Entry, Slots};

/// log2 of the nanoseconds in a tick.
pub(crate) const TICK_BITS: u32 = 14;
/// The bits of a time within its tick.
pub(crate) const TICK_MASK: u64 = (1 << TICK_BITS) - 1;
/// log2 of the slots in a level.
const DIGIT_BITS: u32 = 6;
/// Slots in a level: one for each bit of the occupancy word.
const SLOTS: usize = 1 << DIGIT_BITS;
/// Levels needed for 64 bits of nanoseconds.
pub(crate) const LEVELS: usize = (u64::BITS - TICK_BITS).div_ceil(DIGIT_BITS) as usize;

/// The level on which a deadline belongs, seen from `elapsed`: that of the highest digit in which
/// the two differ, and 0 if they lie in the same tick.
#[inline]
pub(crate) const fn level_of(elapsed: u64, deadline: u64) -> usize {
    let differing = ((elapsed ^ deadline) >> TICK_BITS) | 1;
    (differing.ilog2() / DIGIT_BITS) as usize
}

/// Digit `level` of a time: its slot on that level.
#[inline]
pub(crate) const fn digit(time: u64, level: usize) -> usize {
    ((time >> (TICK_BITS + DIGIT_BITS * level as u32)) & (SLOTS as u64 - 1)) as usize
}

/// When slot `index` of a level begins, for a time that shares the digits above that level.
#[inline]
pub(crate) const fn slot_start(time: u64, level: usize, index: usize) -> u64 {
    let shift = TICK_BITS + DIGIT_BITS * level as u32;
    // The uppermost level has no digits above it.
    let above = match time.checked_shr(shift + DIGIT_BITS) {
        Some(digits) if digits != 0 => digits << (shift + DIGIT_BITS),
        _ => 0,
    };
    above | (index as u64) << shift
}

/// The entries whose deadlines share the digits from this slot's level upwards.
#[derive(Debug)]
struct Slot {
    list: List<Slots>,
    /// No entry here is due before this. Exact, unless the earliest was cancelled since.
    earliest: u64,
}

/// One level.
#[derive(Debug)]
pub(crate) struct Level {
    /// Bit `i` is set if slot `i` holds an entry.
    occupied: u64,
    slots: [Slot; SLOTS],
}

impl Level {
    pub(crate) fn new() -> Self {
        const EMPTY: Slot = Slot { list: List::new(), earliest: u64::MAX };
        Level { occupied: 0, slots: [EMPTY; SLOTS] }
    }

    /// The first occupied slot.
    #[inline]
    pub(crate) fn first(&self) -> Option<usize> {
        (self.occupied != 0).then(|| self.occupied.trailing_zeros() as usize)
    }

    /// A time at or before the earliest deadline on this level, if it holds any.
    #[inline]
    pub(crate) fn earliest(&self) -> Option<u64> {
        // Entries lie in slots at or after that of the current time, and no level wraps: the first
        // occupied slot is the earliest.
        self.first().map(|index| self.slots[index].earliest)
    }

    /// # Safety
    ///
    /// `entry` must be live for as long as it is linked, and in no list.
    #[inline]
    pub(crate) unsafe fn insert(&mut self, index: usize, entry: NonNull<Entry>, deadline: u64) {
        let slot = &mut self.slots[index];
        // SAFETY: the caller's promise.
        unsafe { slot.list.push_back(entry) };
        slot.earliest = slot.earliest.min(deadline);
        self.occupied |= 1 << index;
    }

    /// Unlinks an entry; true if that emptied its slot, and with it the slot's bound.
    ///
    /// # Safety
    ///
    /// `entry` must be linked into slot `index` of this level.
    #[inline]
    pub(crate) unsafe fn remove(&mut self, index: usize, entry: NonNull<Entry>) -> bool {
        let slot = &mut self.slots[index];
        // SAFETY: the caller's promise.
        unsafe { slot.list.remove(entry) };
        let emptied = slot.list.is_empty();
        if emptied {
            slot.earliest = u64::MAX;
            self.occupied &= !(1 << index);
        }
        emptied
    }

    /// Empties slot `index` and returns what was in it.
    pub(crate) fn take(&mut self, index: usize) -> List<Slots> {
        let slot = &mut self.slots[index];
        slot.earliest = u64::MAX;
        self.occupied &= !(1 << index);
        slot.list.take()
    }
}
