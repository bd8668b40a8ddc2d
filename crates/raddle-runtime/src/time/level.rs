//! The geometry of the wheel, and one level of it: slots, and a bit for each that says whether it
//! holds something.
//!
//! Time is read as a number above a tick of 2^14 ns (16.4 µs): a lowest digit of ten bits, then
//! digits of six. Level `n` has a slot for each value of digit `n`; eight levels cover all 64
//! bits, so no level ever wraps.
//!
//! ```text
//!  bit 63    60        54                        30      24           14            0
//!      ├──7──┼────6────┼── … ────────────────────┼───1───┼──────0─────┼─ in the tick ┤
//! ```
//!
//! | level | slots | a slot spans | the level spans |
//! |---|---|---|---|
//! | 0 | 1,024 | 16.4 µs | 16.8 ms |
//! | 1 | 64 | 16.8 ms | 1.07 s |
//! | 2 | 64 | 1.07 s | 68.7 s |
//! | 3 | 64 | 68.7 s | 73.3 min |
//! | 4 | 64 | 73.3 min | 78.2 h |
//! | 5 | 64 | 78.2 h | 208 days |
//! | 6 | 64 | 208 days | 36.6 years |
//! | 7 | 64 | 36.6 years | 584 years (16 slots in use) |
//!
//! The lowest level is the wide one because an entry that moves to a lower level is a cache miss:
//! with 64 slots there, each of ten thousand sleeps of 1 to 10 ms moved once, for a fifth of the
//! processor time they took in all.

use std::ptr::NonNull;

use raddle_base::list::List;

use crate::time::entry::{Entry, Slots};

/// log2 of the nanoseconds in a tick.
pub(crate) const TICK_BITS: u32 = 14;
/// The bits of a time within its tick.
pub(crate) const TICK_MASK: u64 = (1 << TICK_BITS) - 1;
/// log2 of the slots on the lowest level.
pub(crate) const NEAR_BITS: u32 = 10;
/// log2 of the slots on any other.
pub(crate) const FAR_BITS: u32 = 6;
/// Levels needed for 64 bits of nanoseconds.
pub(crate) const LEVELS: usize =
    1 + (u64::BITS - TICK_BITS - NEAR_BITS).div_ceil(FAR_BITS) as usize;

/// log2 of the nanoseconds in a slot of a level.
#[inline]
const fn shift(level: usize) -> u32 {
    match level {
        0 => TICK_BITS,
        far => TICK_BITS + NEAR_BITS + FAR_BITS * (far as u32 - 1),
    }
}

/// log2 of the slots of a level.
#[inline]
const fn bits(level: usize) -> u32 {
    if level == 0 { NEAR_BITS } else { FAR_BITS }
}

/// The level on which a deadline belongs, seen from `elapsed`: that of the highest digit in which
/// the two differ, and 0 if they lie in the same tick.
#[inline]
pub(crate) const fn level_of(elapsed: u64, deadline: u64) -> usize {
    let differing = (elapsed ^ deadline) >> (TICK_BITS + NEAR_BITS);
    if differing == 0 {
        return 0;
    }
    1 + (differing.ilog2() / FAR_BITS) as usize
}

/// Digit `level` of a time: its slot on that level.
#[inline]
pub(crate) const fn digit(time: u64, level: usize) -> usize {
    ((time >> shift(level)) & ((1 << bits(level)) - 1)) as usize
}

/// When slot `index` of a level begins, for a time that shares the digits above that level.
#[inline]
pub(crate) const fn slot_start(time: u64, level: usize, index: usize) -> u64 {
    let shift = shift(level);
    let end = shift + bits(level);
    // The uppermost level has no digits above it.
    let above = match time.checked_shr(end) {
        Some(digits) if digits != 0 => digits << end,
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
    /// Bit `i` is set if a slot of word `i` is occupied.
    words: u64,
    /// Bit `i` of word `w` is set if slot `64 w + i` holds an entry.
    occupied: [u64; (1 << NEAR_BITS) / 64],
    slots: Box<[Slot]>,
}

impl Level {
    /// The level of this number, empty.
    pub(crate) fn new(level: usize) -> Self {
        let empty = |_| Slot { list: List::new(), earliest: u64::MAX };
        let slots = (0..1 << bits(level)).map(empty).collect();
        Level { words: 0, occupied: [0; _], slots }
    }

    #[inline]
    fn occupy(&mut self, index: usize) {
        self.occupied[index / 64] |= 1 << (index % 64);
        self.words |= 1 << (index / 64);
    }

    #[inline]
    fn vacate(&mut self, index: usize) {
        let word = &mut self.occupied[index / 64];
        *word &= !(1 << (index % 64));
        if *word == 0 {
            self.words &= !(1 << (index / 64));
        }
    }

    /// The first occupied slot.
    #[inline]
    pub(crate) fn first(&self) -> Option<usize> {
        (self.words != 0).then(|| {
            let word = self.words.trailing_zeros() as usize;
            word * 64 + self.occupied[word].trailing_zeros() as usize
        })
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
        self.occupy(index);
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
            self.vacate(index);
        }
        emptied
    }

    /// Empties slot `index` and returns what was in it.
    pub(crate) fn take(&mut self, index: usize) -> List<Slots> {
        let slot = &mut self.slots[index];
        slot.earliest = u64::MAX;
        let list = slot.list.take();
        self.vacate(index);
        list
    }
}
