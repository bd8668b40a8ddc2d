//! The hierarchical timer wheel: which deadline is next, and which have passed. Pure: it reads no
//! clock, wakes nobody and takes no lock; [`Timers`](crate::time::Timers) does that around it.
//!
//! # Where an entry lies
//!
//! The wheel keeps `elapsed`, the latest time it was advanced to, and this invariant:
//!
//! * an entry with `deadline <= elapsed` is in the list `due`;
//! * any other is on the level of the highest digit in which `deadline` and `elapsed` differ (in
//!   the same tick: level 0), in the slot of that digit.
//!
//! The place is thus a function of two numbers, so an entry need not remember it: [`Wheel::remove`]
//! computes it again. Since deadlines lie ahead, slots behind that of `elapsed` are empty, and
//! nothing wraps: the wheel behaves alike one second and five hundred years after the origin.
//!
//! # Advancing
//!
//! From `elapsed` to `now`, the first occupied slot of the lowest occupied level is taken again and
//! again while it begins at or before `now`. On level 0 it is over as a whole and moves to `due`
//! by one splice, except the slot of `now` itself, whose entries are looked at one by one. On a
//! higher level its entries are placed anew, as seen from its beginning, and so move to a strictly
//! lower level: at most seven times in an entry's life, and mostly never, because it is cancelled
//! before or lies on the lowest level from the start. What is due is therefore in the order of its
//! ticks, however late the wheel is advanced.
//!
//! Slots that begin after `now` keep their places: they share with it the digits above their
//! level, as they did with `elapsed`.
//!
//! # The next deadline
//!
//! Entries of level 0 share all higher digits with `elapsed`, those of level 1 do not and lie
//! later, and so on: the first occupied slot of the lowest occupied level holds the earliest. Each
//! slot keeps its earliest deadline to the nanosecond. Cancelling that entry leaves the number
//! behind while the slot has others, which makes the answer too early, never too late; advancing
//! to it cleans up. Insert, cancel and fire are O(1); a cancelled entry is gone at once.

use std::ptr::NonNull;

use raddle_base::list::List;

use crate::time::entry::{Entry, Slots};
use crate::time::level::{LEVELS, Level, TICK_MASK, digit, level_of, slot_start};

/// Deadlines in order, at the cost of a few list operations each.
#[derive(Debug)]
pub(crate) struct Wheel {
    elapsed: u64,
    /// Entries linked, in slots or due.
    len: usize,
    due: List<Slots>,
    levels: Box<[Level]>,
}

impl Wheel {
    /// An empty wheel at time 0.
    pub(crate) fn new() -> Self {
        Wheel {
            elapsed: 0,
            len: 0,
            due: List::new(),
            levels: (0..LEVELS).map(Level::new).collect(),
        }
    }

    /// Whether no entry is linked.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether entries wait to be popped.
    #[inline]
    pub(crate) fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The time up to which all expired entries have been moved to `due`.
    #[cfg(test)]
    pub(crate) fn elapsed(&self) -> u64 {
        self.elapsed
    }

    /// Links an entry.
    ///
    /// # Safety
    ///
    /// `entry` must be in no list, and live and in place until it is removed or popped; its
    /// deadline must not change meanwhile. The caller has exclusive access to its links.
    #[inline]
    pub(crate) unsafe fn insert(&mut self, entry: NonNull<Entry>) {
        self.len += 1;
        // SAFETY: the caller's promise.
        unsafe { self.place(entry) };
    }

    /// Links an entry where it belongs.
    ///
    /// # Safety
    ///
    /// As for `insert`.
    #[inline]
    unsafe fn place(&mut self, entry: NonNull<Entry>) {
        // SAFETY: the entry is live, says the caller, and belongs into exactly one list.
        unsafe {
            let deadline = entry.as_ref().deadline();
            if deadline <= self.elapsed {
                return self.due.push_back(entry);
            }
            let level = level_of(self.elapsed, deadline);
            self.levels[level].insert(digit(deadline, level), entry, deadline);
        }
    }

    /// Unlinks an entry before its time; true if `next` may say something else now.
    ///
    /// # Safety
    ///
    /// `entry` must be linked into this wheel.
    #[inline]
    pub(crate) unsafe fn remove(&mut self, entry: NonNull<Entry>) -> bool {
        self.len -= 1;
        // SAFETY: a linked entry is live, and by the invariant it is where `place` would put it.
        unsafe {
            let deadline = entry.as_ref().deadline();
            if deadline <= self.elapsed {
                self.due.remove(entry);
                return self.due.is_empty();
            }
            let level = level_of(self.elapsed, deadline);
            self.levels[level].remove(digit(deadline, level), entry)
        }
    }

    /// Moves what is due at `now` to the due list. A `now` before an earlier one changes nothing.
    pub(crate) fn advance(&mut self, now: u64) {
        if now <= self.elapsed {
            return;
        }
        while let Some((level, index)) = self.first() {
            let start = slot_start(self.elapsed, level, index);
            if start > now {
                break;
            }
            let mut slot = self.levels[level].take(index);
            if level == 0 && start | TICK_MASK <= now {
                self.due.append(&mut slot);
                continue;
            }
            self.elapsed = if level == 0 { now } else { self.elapsed.max(start) };
            while let Some(entry) = slot.pop_front() {
                // SAFETY: the entry was linked, hence live, and was just taken out of its list.
                unsafe { self.place(entry) };
            }
            if level == 0 {
                break;
            }
        }
        self.elapsed = now;
    }

    /// The first occupied slot of the lowest occupied level.
    fn first(&self) -> Option<(usize, usize)> {
        let mut levels = self.levels.iter().enumerate();
        levels.find_map(|(level, slots)| slots.first().map(|index| (level, index)))
    }

    /// Unlinks one entry that is due.
    #[inline]
    pub(crate) fn pop_due(&mut self) -> Option<NonNull<Entry>> {
        let entry = self.due.pop_front()?;
        self.len -= 1;
        Some(entry)
    }

    /// When to look again: a time at or before the earliest deadline, `None` if nothing is linked.
    #[inline]
    pub(crate) fn next(&self) -> Option<u64> {
        if self.has_due() {
            return Some(self.elapsed);
        }
        self.levels.iter().find_map(Level::earliest)
    }
}
