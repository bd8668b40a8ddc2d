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
//! From `elapsed` to `now`, with `top` the highest digit in which they differ: all of the levels
//! below `top` is over, and so are the slots of level `top` before that of `now`: they move to
//! `due` by one splice each. Entries in the slot of `now` itself are placed anew, on a lower level
//! or in `due`; each moves to a strictly lower level, at most eight times in its life, once or
//! twice for the usual timers. Levels above `top` keep their places, because the digits that
//! decide them did not change. Within one tick only the slot of that tick is looked through.
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
use crate::time::level::{LEVELS, Level, digit, level_of};

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
            levels: (0..LEVELS).map(|_| Level::new()).collect(),
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
        let before = std::mem::replace(&mut self.elapsed, now);
        if self.len == 0 {
            return;
        }
        let top = level_of(before, now);
        let (over, rest) = self.levels.split_at_mut(top);
        for level in over {
            level.drain(&mut self.due);
        }
        let current = digit(now, top);
        rest[0].drain_before(current, &mut self.due);
        let mut entered = rest[0].take(current);
        while let Some(entry) = entered.pop_front() {
            // SAFETY: the entry was linked, hence live, and was just taken out of its list.
            unsafe { self.place(entry) };
        }
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
