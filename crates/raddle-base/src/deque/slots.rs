//! What owner and thieves share: the two index words and the slots. All raw access to slots is
//! here.
//!
//! | field | who stores | who reads |
//! |---|---|---|
//! | `head` | owner and thieves, by exchange | all |
//! | `tail` | the owner only | all |
//! | `slots[i]` | the owner, for `tail ≤ i < claimed + CAPACITY` | see below |
//!
//! A slot is read by the owner while its index is queued (`real ≤ i < tail`), and by the holder of
//! the claim on its index.

use core::array;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::index::Head;
use crate::padded::CachePadded;
use crate::shim::atomic::{AtomicU32, AtomicU64};
use crate::shim::cell::UnsafeCell;
use crate::shim::model;

/// Slots of a ring; a power of two, so that an index finds its slot by a mask and wrap-around of
/// the indices does no harm. Four in models, so that full and wrapped rings are reached.
pub(crate) const CAPACITY: u32 = model::bound(2048, 4) as u32;
const _: () = assert!(CAPACITY.is_power_of_two());

/// A slot: owned by the ring while its index is queued, else garbage.
type Slot = UnsafeCell<MaybeUninit<NonNull<()>>>;

/// Both index words. They share a line: the owner writes both for each item, and a thief that
/// looks wants both.
pub(crate) struct Ends {
    pub(crate) head: AtomicU64,
    pub(crate) tail: AtomicU32,
}

/// The shared memory of one ring. It does not know the type of its items; its owner side does and
/// drops what is left.
pub(crate) struct Ring {
    pub(crate) ends: CachePadded<Ends>,
    slots: [Slot; CAPACITY as usize],
}

// SAFETY: the slots hold raw pointers which mean nothing by themselves; `Owner` and `Thief` ask
// for `T: Send` before they carry one to another thread.
unsafe impl Send for Ring {}
// SAFETY: the slots are reached through `read` and `write` only, whose contracts keep a writer
// away from everybody else (the protocol of the parent module).
unsafe impl Sync for Ring {}

impl Ring {
    /// An empty ring whose indices start at `start`.
    pub(crate) fn new(start: u32) -> Self {
        let head = AtomicU64::new(Head::at(start).bits());
        let ends = CachePadded::new(Ends { head, tail: AtomicU32::new(start) });
        Self { ends, slots: array::from_fn(|_| UnsafeCell::new(MaybeUninit::uninit())) }
    }

    /// The pointer in the slot of `index`. It belongs to the caller only if the index does.
    ///
    /// # Safety
    ///
    /// The write to `index` happened before, and nobody writes to its slot meanwhile: the caller
    /// is the owner and the index is queued, or it holds the claim on the index.
    #[inline]
    pub(crate) unsafe fn read(&self, index: u32) -> NonNull<()> {
        // SAFETY: initialised and without a writer, by this function's contract.
        self.slot(index).with(|slot| unsafe { (*slot).assume_init() })
    }

    /// Puts a pointer into the slot of `index`.
    ///
    /// # Safety
    ///
    /// The caller is the owner, and the index is free: `tail ≤ index < claimed + CAPACITY` for a
    /// `claimed` that was loaded with acquire.
    #[inline]
    pub(crate) unsafe fn write(&self, index: u32, item: NonNull<()>) {
        // SAFETY: nobody else touches the slot of a free index, by this function's contract.
        self.slot(index).with_mut(|slot| unsafe { (*slot).write(item) });
    }

    #[inline]
    fn slot(&self, index: u32) -> &Slot {
        // In bounds by the mask, which the compiler sees: no check is left.
        &self.slots[(index % CAPACITY) as usize]
    }
}
