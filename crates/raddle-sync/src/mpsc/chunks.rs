//! Where a channel's values lie: a list of blocks that never move a value.
//!
//! Senders fill the last block under the channel's lock. The receiver takes *all* blocks in one
//! step and empties them without the lock, so that most receives need none, and so that a
//! block is either filled or emptied, never both. A block that was emptied goes back to the
//! senders, one at a time; more than that is freed. So a channel in balance allocates nothing,
//! and one after a burst keeps nothing.

use std::collections::{LinkedList, VecDeque};

/// Blocks hold at most this many values,
const VALUES: usize = 64;
/// and about this many bytes, unless a single value is larger.
const BYTES: usize = 8192;

/// An empty block: a list of one, since a list's node can be moved between lists but not held.
pub(super) struct Chunk<T>(LinkedList<VecDeque<T>>);

impl<T> Chunk<T> {
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

    /// Allocates a block. Not under a lock.
    pub(super) fn allocate() -> Self {
        Chunk(LinkedList::from([VecDeque::with_capacity(Self::ROOM)]))
    }
}

/// Values in order, in blocks.
pub(super) struct Chunks<T> {
    list: LinkedList<VecDeque<T>>,
    len: usize,
}

impl<T> Chunks<T> {
    pub(super) const fn new() -> Self {
        Chunks { list: LinkedList::new(), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a value at the end, or gives it back if the last block is full or there is none.
    /// Never allocates.
    pub(super) fn push(&mut self, value: T) -> Result<(), T> {
        match self.list.back_mut() {
            Some(last) if last.len() < Chunk::<T>::ROOM => {
                last.push_back(value);
                self.len += 1;
                Ok(())
            }
            _ => Err(value),
        }
    }

    /// Adds an empty block at the end.
    pub(super) fn add(&mut self, mut chunk: Chunk<T>) {
        self.list.append(&mut chunk.0);
    }

    /// Moves everything out.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new())
    }

    /// Removes the first value. A block that is empty then is put into `drained`, and the one
    /// that was there before is freed.
    pub(super) fn pop(&mut self, drained: &mut Option<Chunk<T>>) -> Option<T> {
        let first = self.list.front_mut()?;
        let value = first.pop_front()?;
        self.len -= 1;
        if first.is_empty() {
            let rest = self.list.split_off(1);
            *drained = Some(Chunk(std::mem::replace(&mut self.list, rest)));
        }
        Some(value)
    }
}
