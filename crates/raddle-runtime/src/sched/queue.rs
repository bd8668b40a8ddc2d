//! A worker's queue of runnable tasks: a ring, and behind it a FIFO without bound.
//!
//! The ring is what thieves take halves of. When it is full, further tasks go to the FIFO behind
//! it, and as long as that is non-empty every push goes to its tail and the ring is refilled from
//! its head: the whole is strictly first in, first out. A queue that overflowed into a shared
//! one instead let some of a thousand yielding tasks run five times as often as others.

use std::cell::Cell;

use raddle_base::deque::{self, Owner, Thief};
use raddle_base::injector::Injector;
use raddle_base::shim::hint;
use raddle_base::shim::model;

use crate::task::Runnable;

/// How many tasks are moved from the FIFO to the ring at a time.
const REFILL: usize = model::bound(256, 4);

/// The owner's end. Belongs to one worker thread.
pub(crate) struct RunQueue {
    ring: Owner<Runnable>,
    /// The owner knows that the FIFO is non-empty without reading a shared word; thieves may have
    /// emptied it since.
    overflowed: Cell<bool>,
}

/// What thieves and rescuers see of it.
pub(crate) struct Stealable {
    ring: Thief<Runnable>,
    overflow: Injector<Runnable>,
}

/// A queue, in its two parts.
pub(crate) fn run_queue() -> (RunQueue, Stealable) {
    let (owner, thief) = deque::ring();
    let queue = RunQueue { ring: owner, overflowed: Cell::new(false) };
    (queue, Stealable { ring: thief, overflow: Injector::new() })
}

impl RunQueue {
    /// Puts a task at the tail.
    #[inline]
    pub(crate) fn push(&self, shared: &Stealable, task: Runnable) {
        if self.overflowed.get() {
            hint::cold_path();
            return self.push_behind(shared, task);
        }
        if let Err(task) = self.ring.push(task) {
            hint::cold_path();
            self.push_behind(shared, task);
        }
    }

    fn push_behind(&self, shared: &Stealable, task: Runnable) {
        self.overflowed.set(true);
        shared.overflow.push(task);
    }

    /// Takes the task at the head.
    #[inline]
    pub(crate) fn pop(&self, shared: &Stealable) -> Option<Runnable> {
        match self.ring.pop() {
            Some(task) => Some(task),
            None if self.overflowed.get() => self.refill(shared),
            None => None,
        }
    }

    #[cold]
    fn refill(&self, shared: &Stealable) -> Option<Runnable> {
        let mut batch = shared.overflow.pop_batch(REFILL);
        let first = batch.pop_front();
        while let Some(task) = batch.pop_front() {
            if let Err(task) = self.ring.push(task) {
                // A thief has not finished copying out of the ring: the rest waits in front.
                batch.push_front(task);
                shared.overflow.push_front_batch(batch);
                return first;
            }
        }
        self.overflowed.set(!shared.overflow.is_empty());
        first
    }

    /// Whether a pop would find something.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ring.is_empty() && !self.overflowed.get()
    }

    /// Whether a pop would find something that another worker could be doing meanwhile.
    pub(crate) fn has_more_than_one(&self) -> bool {
        self.overflowed.get() || self.ring.len() > 1
    }

    /// The ring, for a thief that steals into it.
    pub(crate) fn ring(&self) -> &Owner<Runnable> {
        &self.ring
    }
}

impl Stealable {
    /// Takes about half of what is there into `into`, and returns one of it.
    pub(crate) fn steal(&self, into: &RunQueue, own: &Stealable) -> Option<Runnable> {
        if let Some(task) = self.ring.steal_half(into.ring()) {
            return Some(task);
        }
        if self.overflow.is_empty() {
            return None;
        }
        let share = self.overflow.len().div_ceil(2).min(deque::CAPACITY / 2);
        let mut batch = self.overflow.pop_batch(share);
        let first = batch.pop_front();
        for task in batch {
            into.push(own, task);
        }
        first
    }

    /// Takes one task.
    pub(crate) fn steal_one(&self) -> Option<Runnable> {
        self.ring.steal_one().or_else(|| self.overflow.pop())
    }

    /// How many tasks are there to steal.
    pub(crate) fn len(&self) -> usize {
        self.ring.len() + self.overflow.len()
    }

    /// Whether nothing is there to steal.
    pub(crate) fn is_empty(&self) -> bool {
        self.ring.is_empty() && self.overflow.is_empty()
    }
}
