//! The free stacks a thread keeps for itself: last in, first out, without a lock.
//!
//! The stack that was used last has its pages in the caches of the processor. What a thread has
//! too many of goes back to the pool, the older half at once; what it has when it ends goes back
//! as well. One in eight that come back is looked at for pages below the mark.

use super::error::StackError;
use super::pool::{Pool, Slot};
use std::cell::RefCell;
use std::ptr;

/// How often a stack that comes back is looked at.
const LOOK_EVERY: u32 = 8;

/// What a thread keeps of one pool.
struct Shelf {
    pool: &'static Pool,
    slots: Vec<Slot>,
    returns: u32,
}

struct Shelves(RefCell<Vec<Shelf>>);

impl Drop for Shelves {
    fn drop(&mut self) {
        for shelf in self.0.get_mut() {
            shelf.pool.give(&mut shelf.slots.drain(..));
        }
    }
}

thread_local! {
    static SHELVES: Shelves = const { Shelves(RefCell::new(Vec::new())) };
}

/// Calls `f` with this thread's shelf for `pool`; `None` where the thread is about to end.
#[inline]
fn with<R>(pool: &'static Pool, f: impl FnOnce(&mut Shelf) -> R) -> Option<R> {
    SHELVES
        .try_with(|shelves| {
            let mut shelves = shelves.0.borrow_mut();
            let at = shelves.iter().position(|shelf| ptr::eq(shelf.pool, pool));
            let at = at.unwrap_or_else(|| {
                shelves.push(Shelf { pool, slots: Vec::new(), returns: 0 });
                shelves.len() - 1
            });
            f(&mut shelves[at])
        })
        .ok()
}

/// A slot to use: this thread's last one, else from the pool, which fills the shelf by half.
pub(crate) fn take(pool: &'static Pool) -> Result<Slot, StackError> {
    let taken = with(pool, |shelf| match shelf.slots.pop() {
        Some(slot) => Ok(slot),
        None => pool.take(pool.config.cache / 2, &mut shelf.slots),
    });
    taken.unwrap_or_else(|| pool.take(0, &mut Vec::new()))
}

/// Takes a slot back that was used.
pub(crate) fn give(pool: &'static Pool, slot: Slot) {
    let mut slot = Some(Slot { warm: true, ..slot });
    with(pool, |shelf| {
        let Some(slot) = slot.take() else { return };
        shelf.returns += 1;
        if shelf.returns.is_multiple_of(LOOK_EVERY) {
            pool.trim(&slot);
        }
        shelf.slots.push(slot);
        if shelf.slots.len() > pool.config.cache {
            let older = shelf.slots.len().div_ceil(2);
            pool.give(&mut shelf.slots.drain(..older));
        }
    });
    if slot.is_some() {
        pool.give(&mut slot.into_iter());
    }
}

/// Gives back to the pool what this thread keeps.
pub(crate) fn flush(pool: &'static Pool) {
    with(pool, |shelf| pool.give(&mut shelf.slots.drain(..)));
}
