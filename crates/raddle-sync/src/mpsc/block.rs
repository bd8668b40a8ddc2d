//! One block of a channel: a few slots that never move, and the link to the next block.
//!
//! | field | written by | read by |
//! |---|---|---|
//! | `start` | whoever made the block ready, before it was linked | senders, the receiver |
//! | `next` | whoever links the next block, once | senders, the receiver |
//! | `released` | the sender that moved `last` past this block, once | the receiver |
//! | `values[i]` | the sender that claimed the position, first | the receiver, after `ready[i]` |
//! | `ready[i]` | that sender, as its last touch of any block | the receiver; who moves `last` |

use std::mem::MaybeUninit;
use std::ptr;

use raddle_base::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use raddle_base::shim::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use raddle_base::shim::cell::UnsafeCell;
use raddle_base::shim::model::bound;

/// Slots of a block: a power of two, so that positions that wrap around still fall in line.
pub(super) const SLOTS: usize = bound(32, 2);

pub(super) struct Block<T> {
    start: UnsafeCell<usize>,
    pub(super) next: AtomicPtr<Block<T>>,
    /// Zero, or one more than the tail was when senders had ceased to enter here.
    released: AtomicUsize,
    ready: [AtomicBool; SLOTS],
    values: [UnsafeCell<MaybeUninit<T>>; SLOTS],
}

impl<T> Block<T> {
    /// Allocates a block whose first slot has the position `start`.
    pub(super) fn allocate(start: usize) -> *mut Self {
        let block = Box::into_raw(Box::<Self>::new_uninit()).cast::<Self>();
        // Field by field: a block of large values would not fit on every stack.
        // SAFETY: the memory is allocated for a block, and nobody else knows it yet.
        unsafe {
            (&raw mut (*block).start).write(UnsafeCell::new(start));
            (&raw mut (*block).next).write(AtomicPtr::new(ptr::null_mut()));
            (&raw mut (*block).released).write(AtomicUsize::new(0));
            for i in 0..SLOTS {
                (&raw mut (*block).ready[i]).write(AtomicBool::new(false));
                (&raw mut (*block).values[i]).write(UnsafeCell::new(MaybeUninit::uninit()));
            }
        }
        block
    }

    /// # Safety
    ///
    /// The block came from [`allocate`](Self::allocate), nobody else will touch it, and no value
    /// is in it.
    pub(super) unsafe fn free(block: *mut Self) {
        // SAFETY: passed on from the caller.
        drop(unsafe { Box::from_raw(block) });
    }

    /// Makes a drained block as new.
    ///
    /// # Safety
    ///
    /// The caller alone has the block.
    pub(super) unsafe fn reset(&self) {
        // Relaxed, all: the caller is alone, and publishes the block when it passes it on.
        self.next.store(ptr::null_mut(), Relaxed);
        self.released.store(0, Relaxed);
        self.ready.iter().for_each(|slot| slot.store(false, Relaxed));
    }

    /// # Safety
    ///
    /// The caller alone has the block.
    pub(super) unsafe fn set_start(&self, start: usize) {
        // SAFETY: passed on from the caller.
        self.start.with_mut(|p| unsafe { *p = start });
    }

    /// The position of the first slot.
    #[inline]
    pub(super) fn start(&self) -> usize {
        // SAFETY: it does not change while the block is linked, and who has a reference came here
        // by an acquiring load of a link.
        self.start.with(|p| unsafe { *p })
    }

    /// Puts a value into the slot of a position and makes it ready: the sender's last touch.
    ///
    /// # Safety
    ///
    /// The caller claimed the position, which lies in this block.
    #[inline]
    pub(super) unsafe fn write(&self, position: usize, value: T) {
        let i = position % SLOTS;
        // SAFETY: the slot is the caller's until it is ready.
        self.values[i].with_mut(|slot| unsafe { (*slot).write(value) });
        // Release: the receiver sees the value whole, and finds the sender through with all blocks.
        self.ready[i].store(true, Release);
    }

    /// Whether the slot of a position has its value.
    #[inline]
    pub(super) fn is_ready(&self, position: usize) -> bool {
        // Acquire: the value can be read, and the block reused, after all that its sender did.
        self.ready[position % SLOTS].load(Acquire)
    }

    /// Whether all slots have, or had, their values.
    pub(super) fn is_full(&self) -> bool {
        // The last first: the likeliest to be missing.
        (0..SLOTS).rev().all(|i| self.is_ready(i))
    }

    /// Moves the value out of the slot of a position.
    ///
    /// # Safety
    ///
    /// The caller is the receiver, has seen the slot ready, and does this once.
    #[inline]
    pub(super) unsafe fn read(&self, position: usize) -> T {
        // SAFETY: passed on from the caller.
        self.values[position % SLOTS].with(|slot| unsafe { (*slot).assume_init_read() })
    }

    /// Says that senders whose position is `tail` or later will not come here.
    pub(super) fn release(&self, tail: usize) {
        // Release: the receiver that sees this may reuse the block once those before are done.
        self.released.store(tail + 1, Release);
    }

    /// The tail at which the block was released, if it was.
    pub(super) fn released(&self) -> Option<usize> {
        // Acquire: pairs with `release`.
        self.released.load(Acquire).checked_sub(1)
    }
}
