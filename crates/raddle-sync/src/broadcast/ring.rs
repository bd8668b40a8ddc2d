//! What lies under the lock of a channel: which values there are, and who counts on them.
//!
//! # States
//!
//! Values have positions, from 0 on, which never come round. A value is in the ring from when it
//! is sent until the last receiver that counts on it has received it, or it is overwritten.
//!
//! | position | its slot |
//! |---|---|
//! | below `head` | somebody else's |
//! | `head` | an entry, unless `head` is `tail` |
//! | from `head` to `tail` | an entry, or nothing, if all have received it |
//! | from `tail` on | not in use |
//!
//! A value that is sent counts as missing for all receivers there are. Receivers go through the
//! positions one by one; mostly they come to the head last, but one that leaves gives up its
//! values with the lock dropped in between, so that later ones can go before earlier ones.
//!
//! A place is free, spoken for (held by a permit or a sender that was granted it, or gathered for
//! the one that waits first), or taken: by a position from `head` on.

use std::ptr;

use super::entry::{Entry, Spare, Stock};
use crate::places::spoken::Spoken;

pub(super) struct Ring<T> {
    /// A power of two of them, no fewer than `capacity`.
    slots: Box<[*const Entry<T>]>,
    capacity: usize,
    head: u64,
    tail: u64,
    /// Those who count on the next value.
    receivers: usize,
    /// Places that are held, or gathered for the sender that waits first.
    pub(super) spoken: Spoken,
    /// No sender is left.
    pub(super) ended: bool,
    stock: Stock<T>,
}

// SAFETY: values are moved in and out by any thread, and cloned by several at once.
unsafe impl<T: Send + Sync> Send for Ring<T> {}

/// What a receiver finds at its position.
pub(super) enum Found<T> {
    Nothing,
    End,
    Lagged(u64),
    /// The value, nobody else counting on it.
    Last(T),
    /// It is pinned, to be cloned; [`Ring::unpin`] follows.
    Pinned(*const Entry<T>),
}

impl<T> Ring<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Ring {
            slots: vec![ptr::null(); capacity.next_power_of_two()].into(),
            capacity,
            head: 0,
            tail: 0,
            receivers: 0,
            spoken: Spoken::default(),
            ended: false,
            stock: Stock::new(capacity),
        }
    }

    #[inline]
    fn slot(&mut self, position: u64) -> &mut *const Entry<T> {
        // Cut off on purpose: the number of slots is a power of two.
        let index = position as usize & (self.slots.len() - 1);
        &mut self.slots[index]
    }

    /// Positions that are taken.
    #[inline]
    pub(super) fn len(&self) -> usize {
        // No more than the capacity.
        (self.tail - self.head) as usize
    }

    #[inline]
    pub(super) fn tail(&self) -> u64 {
        self.tail
    }

    #[inline]
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many receivers there are.
    #[inline]
    pub(super) fn receivers(&self) -> usize {
        self.receivers
    }

    /// Places that are free.
    #[inline]
    pub(super) fn room(&self) -> usize {
        self.capacity - self.len() - self.spoken.count()
    }

    /// Serves the sender that waits first, which wants so many places: see [`Spoken::serve`].
    pub(super) fn serve(&mut self, want: Option<usize>) -> bool {
        self.spoken.serve(self.capacity - self.len(), want)
    }

    /// Adds a value, for which there is room.
    #[inline]
    pub(super) fn push(&mut self, value: T) {
        let entry = self.stock.get();
        // SAFETY: entries are alive as long as the ring, and this one came from stock.
        unsafe { (*entry).put(value, self.receivers) };
        *self.slot(self.tail) = entry;
        self.tail += 1;
    }

    /// Makes room by giving up the oldest value, if there is none; returns it unless it is being
    /// cloned.
    #[inline]
    pub(super) fn make_room(&mut self) -> Option<T> {
        if self.len() < self.capacity {
            return None;
        }
        // SAFETY: the slot at the head has an entry, alive as long as the ring.
        let entry = unsafe { &**self.slot(self.head) };
        if entry.pins.get() == 0 {
            return Some(self.release(self.head, entry));
        }
        entry.is_overwritten.set(true);
        self.vacate(self.head);
        None
    }

    /// What there is at `next`, which moves on.
    #[inline]
    pub(super) fn find(&mut self, next: &mut u64) -> Found<T> {
        let position = *next;
        if position == self.tail {
            return if self.ended { Found::End } else { Found::Nothing };
        }
        if position < self.head {
            *next = self.head;
            return Found::Lagged(self.head - position);
        }
        *next = position + 1;
        // SAFETY: the caller counts on this value, so it is there; see `push`.
        let entry = unsafe { &**self.slot(position) };
        if entry.missing.get() == 1 {
            return Found::Last(self.release(position, entry));
        }
        entry.pins.set(entry.pins.get() + 1);
        Found::Pinned(entry)
    }

    /// The receiver that pinned the value at `position` has received it. Returns the value if it
    /// was the last one.
    ///
    /// # Safety
    ///
    /// The entry was returned by [`find`](Self::find), for this position, once for each call.
    pub(super) unsafe fn unpin(&mut self, entry: *const Entry<T>, position: u64) -> Option<T> {
        // SAFETY: a pinned entry is alive.
        let entry = unsafe { &*entry };
        entry.pins.set(entry.pins.get() - 1);
        if !entry.is_overwritten.get() {
            return self.received(position, entry);
        }
        if entry.pins.get() > 0 {
            return None;
        }
        entry.is_overwritten.set(false);
        // SAFETY: it has left the ring, and nobody pins it.
        let value = unsafe { entry.take() };
        self.stock.give(entry);
        Some(value)
    }

    /// A receiver that leaves gives up the next value before `end` that nobody else counts on.
    pub(super) fn give_up(&mut self, next: &mut u64, end: u64) -> Option<T> {
        while *next < end {
            // What was overwritten is gone.
            let position = (*next).max(self.head);
            *next = position + 1;
            if position >= end {
                return None;
            }
            // SAFETY: the caller counts on this value, so it is there; see `push`.
            let entry = unsafe { &**self.slot(position) };
            if let Some(value) = self.received(position, entry) {
                return Some(value);
            }
        }
        None
    }

    /// One receiver less counts on a value.
    fn received(&mut self, position: u64, entry: &Entry<T>) -> Option<T> {
        let missing = entry.missing.get() - 1;
        entry.missing.set(missing);
        (missing == 0).then(|| self.release(position, entry))
    }

    /// Takes a value out that nobody pins.
    #[inline]
    fn release(&mut self, position: u64, entry: &Entry<T>) -> T {
        // SAFETY: whoever is missing it has received it or will not, and it goes to stock.
        let value = unsafe { entry.take() };
        self.stock.give(entry);
        self.vacate(position);
        value
    }

    /// A position has no entry any more.
    #[inline]
    fn vacate(&mut self, position: u64) {
        *self.slot(position) = ptr::null();
        while self.head < self.tail && self.slot(self.head).is_null() {
            self.head += 1;
        }
    }

    /// A receiver comes, perhaps with an entry; its position, and the entry if none was needed.
    pub(super) fn join(&mut self, spare: Option<Spare<T>>) -> (u64, Option<Spare<T>>) {
        let unused = spare.and_then(|spare| self.stock.bring(spare));
        self.receivers += 1;
        (self.tail, unused)
    }

    /// A receiver goes. It counts on values before the returned position yet.
    pub(super) fn leave(&mut self, overwrites: bool) -> u64 {
        self.receivers -= 1;
        if overwrites {
            self.stock.owe();
        }
        self.tail
    }

    /// An entry too many, to be freed outside of the lock.
    pub(super) fn surplus(&mut self) -> Option<Spare<T>> {
        self.stock.pay()
    }
}
