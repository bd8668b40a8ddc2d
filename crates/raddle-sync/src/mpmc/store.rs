//! Where the values of a channel lie: a ring for one with a bound, a chain of blocks for others.
//!
//! Question: how do both get the same short path, and how is memory neither allocated nor freed
//! under the channel's lock? Both are blocks of slots with a link to the next block. A ring is one
//! block that links to itself, and never needs another one. A chain has blocks of [`SLOTS`]:
//! whoever pushes asks first whether a block is needed, and brings one; a drained block is kept for
//! the next crossing, or left for whoever popped to free it, both outside of the lock.
//!
//! ```text
//!   ring:   ▢■■■▢▢ ─┐        chain:   ▢▢■■ ─▶ ■■■■ ─▶ ■■▢▢      spare: ▢▢▢▢
//!           └───────┘                 head            tail
//! ```
//!
//! A store that runs empty begins at the first slot again, so that a channel in balance stays in
//! the same cache lines.
//!
//! Everything here happens under the channel's lock, or with the store owned. Slots from the head
//! to the tail hold values, all others are free.

use std::alloc::{self, Layout};
use std::mem::{self, MaybeUninit};
use std::ptr::{self, NonNull};

use raddle_base::shim::model::bound;

/// Slots of a block of a chain.
pub(super) const SLOTS: usize = bound(32, 2);

/// The head of a block, whose slots follow it in memory.
#[repr(C)]
struct Head<T> {
    next: *mut Head<T>,
    slots: [MaybeUninit<T>; 0],
}

/// A block that is in no store.
pub(super) struct Block<T> {
    head: NonNull<Head<T>>,
    slots: usize,
}

impl<T> Block<T> {
    /// The memory of a block, if such a block can be.
    fn layout(slots: usize) -> Option<Layout> {
        let (layout, offset) =
            Layout::new::<Head<T>>().extend(Layout::array::<T>(slots).ok()?).ok()?;
        debug_assert_eq!(offset, mem::offset_of!(Head<T>, slots), "slots begin behind the head");
        Some(layout)
    }

    /// Allocates a block. Panics if it would be larger than memory can be.
    pub(super) fn allocate(slots: usize) -> Self {
        let layout = Self::layout(slots).expect("the bound of a channel is too large");
        // SAFETY: the layout has the size of a pointer at least.
        let memory = unsafe { alloc::alloc(layout) }.cast::<Head<T>>();
        let Some(head) = NonNull::new(memory) else { alloc::handle_alloc_error(layout) };
        // SAFETY: the memory is large enough for the head, and ours.
        unsafe { (&raw mut (*head.as_ptr()).next).write(ptr::null_mut()) };
        Block { head, slots }
    }

    /// The head, of a block that now belongs to a store.
    fn into_raw(self) -> *mut Head<T> {
        let head = self.head.as_ptr();
        mem::forget(self);
        head
    }

    /// # Safety
    ///
    /// `head` came from [`into_raw`](Self::into_raw) of a block with so many slots, and nobody uses
    /// it any more.
    unsafe fn from_raw(head: NonNull<Head<T>>, slots: usize) -> Self {
        Block { head, slots }
    }
}

impl<T> Drop for Block<T> {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout(self.slots) {
            // SAFETY: allocated with this layout, and nobody else knows it.
            unsafe { alloc::dealloc(self.head.as_ptr().cast(), layout) };
        }
    }
}

/// The slot of a block.
///
/// # Safety
///
/// `head` is a block, and `index` is below the number of its slots.
#[inline]
unsafe fn slot<T>(head: *mut Head<T>, index: usize) -> *mut T {
    // SAFETY: passed on from the caller; slots follow the head in the same allocation.
    unsafe { (&raw mut (*head).slots).cast::<T>().add(index) }
}

/// First in, first out.
pub(super) struct Store<T> {
    head: *mut Head<T>,
    head_index: usize,
    len: usize,
    tail: *mut Head<T>,
    tail_index: usize,
    /// Of each block.
    slots: usize,
    is_ring: bool,
    /// Of a chain: a drained block for the next crossing,
    spare: *mut Head<T>,
    /// and those to be freed outside of the lock.
    drained: *mut Head<T>,
}

// SAFETY: a store owns its blocks and values.
unsafe impl<T: Send> Send for Store<T> {}

impl<T> Store<T> {
    /// A store for so many values at most. Panics if that is more than memory can hold.
    pub(super) fn ring(slots: usize) -> Self {
        let block = Block::allocate(slots).into_raw();
        // SAFETY: the block is ours.
        unsafe { (*block).next = block };
        let mut store = Self::new(block, slots);
        store.is_ring = true;
        store
    }

    /// A store for any number of values.
    pub(super) fn chain() -> Self {
        Self::new(Block::allocate(SLOTS).into_raw(), SLOTS)
    }

    fn new(block: *mut Head<T>, slots: usize) -> Self {
        let (spare, drained) = (ptr::null_mut(), ptr::null_mut());
        let (head, tail, head_index, tail_index) = (block, block, 0, 0);
        let is_ring = false;
        Store { head, head_index, len: 0, tail, tail_index, slots, is_ring, spare, drained }
    }

    /// A store that takes nothing, in place of one whose values are to be dropped.
    pub(super) fn none() -> Self {
        Self::new(ptr::null_mut(), 0)
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether [`push`](Self::push) needs a block first. Never so with a ring.
    #[inline]
    pub(super) fn needs_block(&self) -> bool {
        self.tail_index == self.slots && !self.is_ring && self.spare.is_null()
    }

    /// Gives it the block that it needs.
    pub(super) fn give(&mut self, block: Block<T>) {
        debug_assert!(self.needs_block() && block.slots == self.slots, "a block nobody asked for");
        self.spare = block.into_raw();
    }

    /// Adds a value at the back.
    ///
    /// # Safety
    ///
    /// It [needs no block](Self::needs_block), and a ring is not full.
    #[inline]
    pub(super) unsafe fn push(&mut self, value: T) {
        if self.tail_index == self.slots {
            self.cross_tail();
        }
        // SAFETY: a slot behind the tail is free, says the caller.
        unsafe { slot(self.tail, self.tail_index).write(value) };
        self.tail_index += 1;
        self.len += 1;
    }

    #[cold]
    fn cross_tail(&mut self) {
        if !self.is_ring {
            let next = mem::replace(&mut self.spare, ptr::null_mut());
            // SAFETY: both blocks belong to the store.
            unsafe {
                (*next).next = ptr::null_mut();
                (*self.tail).next = next;
            }
            self.tail = next;
        }
        self.tail_index = 0;
    }

    /// Takes the value at the front.
    ///
    /// # Safety
    ///
    /// There is one.
    #[inline]
    pub(super) unsafe fn pop(&mut self) -> T {
        debug_assert!(self.len > 0, "nothing to take");
        // SAFETY: the slot at the head holds a value, says the caller, and does not any more.
        let value = unsafe { slot(self.head, self.head_index).read() };
        self.len -= 1;
        self.head_index += 1;
        if self.len == 0 {
            // The last value was in the tail's block.
            (self.head_index, self.tail_index) = (0, 0);
        } else if self.head_index == self.slots {
            self.cross_head();
        }
        value
    }

    #[cold]
    fn cross_head(&mut self) {
        self.head_index = 0;
        if self.is_ring {
            return;
        }
        let old = self.head;
        // SAFETY: there are more values, so there is a next block.
        self.head = unsafe { (*old).next };
        if self.spare.is_null() {
            self.spare = old;
        } else {
            // SAFETY: the block is drained, and belongs to the store.
            unsafe { (*old).next = self.drained };
            self.drained = old;
        }
    }

    /// Whether there are blocks to be [taken and freed](Self::take_drained).
    #[inline]
    pub(super) fn has_drained(&self) -> bool {
        !self.drained.is_null()
    }

    /// The blocks to be freed outside of the lock.
    pub(super) fn take_drained(&mut self) -> Drained<T> {
        Drained(mem::replace(&mut self.drained, ptr::null_mut()), self.slots)
    }

    /// Puts a value back to the front, with `reserved` places promised to values yet to come.
    /// `fresh` is a block in case there is no free slot; what is not needed remains there.
    ///
    /// # Errors
    ///
    /// If a block is needed: the number of its slots. The value is still in `value`.
    pub(super) fn push_front(
        &mut self,
        value: &mut Option<T>,
        reserved: usize,
        fresh: &mut Option<Block<T>>,
    ) -> Result<(), usize> {
        if self.is_ring && self.len + reserved >= self.slots {
            let block = block_of(fresh, self.slots + 1)?;
            *fresh = Some(self.move_to(block));
        } else if self.len == 0 {
            if let Some(value) = value.take() {
                // SAFETY: an empty store begins at its first slot, which is free.
                unsafe { self.push(value) };
            }
            return Ok(());
        } else if self.head_index == 0 {
            if !self.is_ring {
                let head = block_of(fresh, self.slots)?.into_raw();
                // SAFETY: the block is ours.
                unsafe { (*head).next = self.head };
                self.head = head;
            }
            self.head_index = self.slots;
        }
        let Some(value) = value.take() else { return Ok(()) };
        self.head_index -= 1;
        // SAFETY: the slot before the head is free: drained, or new.
        unsafe { slot(self.head, self.head_index).write(value) };
        self.len += 1;
        Ok(())
    }

    /// Moves the values of a ring to a larger one, from its second slot on. Returns the old block.
    fn move_to(&mut self, block: Block<T>) -> Block<T> {
        let slots = block.slots;
        let new = block.into_raw();
        let first = self.len.min(self.slots - self.head_index);
        // SAFETY: the values lie from the head on, and from the first slot on where the ring wraps
        // around; the new ring has a slot more.
        let old = unsafe {
            (*new).next = new;
            let (from, to) = (slot(self.head, 0), slot(new, 1));
            ptr::copy_nonoverlapping(from.add(self.head_index), to, first);
            ptr::copy_nonoverlapping(from, to.add(first), self.len - first);
            Block::from_raw(NonNull::new_unchecked(self.head), self.slots)
        };
        (self.head, self.tail, self.slots) = (new, new, slots);
        (self.head_index, self.tail_index) = (1, 1 + self.len);
        old
    }
}

/// The block at hand, if it has so many slots.
fn block_of<T>(fresh: &mut Option<Block<T>>, slots: usize) -> Result<Block<T>, usize> {
    fresh.take_if(|block| block.slots == slots).ok_or(slots)
}

/// Blocks that are freed when this is dropped.
pub(super) struct Drained<T>(*mut Head<T>, usize);

impl<T> Drop for Drained<T> {
    fn drop(&mut self) {
        while let Some(head) = NonNull::new(self.0) {
            // SAFETY: the block is drained, and linked in this list alone.
            unsafe {
                self.0 = (*head.as_ptr()).next;
                drop(Block::from_raw(head, self.1));
            }
        }
    }
}

impl<T> Drop for Store<T> {
    fn drop(&mut self) {
        drop(Rest(self));
    }
}

/// Drops the values, also if a destructor panics, then frees the blocks.
struct Rest<'a, T>(&'a mut Store<T>);

impl<T> Drop for Rest<'_, T> {
    fn drop(&mut self) {
        let store = &mut *self.0;
        while store.len > 0 {
            // SAFETY: there is a value.
            let value = unsafe { store.pop() };
            drop(store.take_drained());
            let rest = Rest(store);
            drop(value);
            mem::forget(rest);
        }
        for last in [&mut store.head, &mut store.spare] {
            if let Some(head) = NonNull::new(mem::replace(last, ptr::null_mut())) {
                // SAFETY: the store is empty and owned; its last block and the spare one are all.
                drop(unsafe { Block::from_raw(head, store.slots) });
            }
        }
    }
}
