//! Where a channel's values lie: in blocks that never move a value, filled on one side and
//! drained on the other.
//!
//! ```text
//!  senders, under the lock                 the receiver, without it
//!  Filling:  full ▤ ▤ ▤   last ▥      ⇒     Draining:  first ▥   full ▤ ▤
//! ```
//!
//! Senders push into `last`. The receiver drains `first`; when that is empty it takes the lock
//! once and gets all full blocks, or, if there are none, swaps its empty block for `last`. So most
//! receives take no lock, and two blocks go to and fro in a channel that is in balance: nothing
//! is allocated. Of the blocks that a burst adds, one is kept by each side, the others are freed
//! as soon as they are drained.

use std::collections::{LinkedList, VecDeque};
use std::mem;

/// Blocks hold at most this many values,
const VALUES: usize = 64;
/// and about this many bytes, unless a single value is larger.
const BYTES: usize = 8192;

/// One block, in a list of one: a list's node can move from list to list, but not be held.
pub(super) struct Block<T>(LinkedList<VecDeque<T>>);

impl<T> Block<T> {
    /// Values in one block.
    const ROOM: usize = {
        let size = if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
        let fit = BYTES / size;
        if fit == 0 {
            1
        } else if fit > VALUES {
            VALUES
        } else {
            fit
        }
    };

    /// Allocates an empty block. Not under a lock.
    pub(super) fn allocate() -> Self {
        Block(LinkedList::from([VecDeque::with_capacity(Self::ROOM)]))
    }
}

/// The side of the senders.
pub(super) struct Filling<T> {
    full: LinkedList<VecDeque<T>>,
    last: VecDeque<T>,
    spare: Option<Block<T>>,
}

impl<T> Filling<T> {
    /// Without values and without a block: the first push asks for one.
    pub(super) const fn new() -> Self {
        Filling { full: LinkedList::new(), last: VecDeque::new(), spare: None }
    }

    pub(super) fn len(&self) -> usize {
        self.full.len() * Block::<T>::ROOM + self.last.len()
    }

    /// Adds a value, or gives it back if a block is needed. Never allocates.
    #[inline]
    pub(super) fn push(&mut self, value: T) -> Result<(), T> {
        // The capacity is zero before the first block, and at least ROOM after.
        if self.last.len() >= self.last.capacity().min(Block::<T>::ROOM) && !self.add_spare() {
            return Err(value);
        }
        self.last.push_back(value);
        Ok(())
    }

    fn add_spare(&mut self) -> bool {
        match self.spare.take() {
            Some(spare) => {
                self.spare = self.add(spare);
                true
            }
            None => false,
        }
    }

    /// Makes `block` the one to be filled. Gives back a block that has no use here.
    pub(super) fn add(&mut self, mut block: Block<T>) -> Option<Block<T>> {
        let content = block.0.front_mut()?;
        mem::swap(content, &mut self.last);
        if content.is_empty() {
            return Some(block);
        }
        self.full.append(&mut block.0);
        None
    }
}

/// The side of the receiver.
pub(super) struct Draining<T> {
    first: VecDeque<T>,
    full: LinkedList<VecDeque<T>>,
    /// A drained block, for the senders.
    drained: Option<Block<T>>,
}

impl<T> Draining<T> {
    pub(super) const fn new() -> Self {
        Draining { first: VecDeque::new(), full: LinkedList::new(), drained: None }
    }

    pub(super) fn len(&self) -> usize {
        self.first.len() + self.full.len() * Block::<T>::ROOM
    }

    /// Removes the first value.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        match self.first.pop_front() {
            None if !self.full.is_empty() => self.pop_from_next(),
            first => first,
        }
    }

    #[cold]
    fn pop_from_next(&mut self) -> Option<T> {
        let rest = self.full.split_off(1);
        let mut block = Block(mem::replace(&mut self.full, rest));
        mem::swap(block.0.front_mut()?, &mut self.first);
        self.drained = Some(block);
        self.first.pop_front()
    }

    /// Takes what the senders have, this side being empty. Under their lock; frees nothing there.
    #[inline]
    pub(super) fn refill(&mut self, from: &mut Filling<T>) -> bool {
        if from.spare.is_none() {
            from.spare = self.drained.take();
        }
        if !from.full.is_empty() {
            mem::swap(&mut self.full, &mut from.full);
            true
        } else if !from.last.is_empty() {
            mem::swap(&mut self.first, &mut from.last);
            true
        } else {
            false
        }
    }
}
