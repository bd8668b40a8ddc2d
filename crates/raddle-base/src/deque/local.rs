//! The owner's side of the ring: push at the tail, pop at the head.
//!
//! One item at a time leaves the ring: a batch taken out in private would be out of reach for
//! whoever comes to rescue the work of a stuck owner.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;

use super::index::{Head, ahead};
use super::slots::{CAPACITY, Ring};
use crate::pointer::Pointer;
use crate::shim::Arc;
use crate::shim::atomic::Ordering;

/// The one side of a ring that may push. See the [module](crate::deque).
///
/// It can be sent to another thread but not shared, and there is only one. Dropping it drops what
/// is still queued; thieves then find the ring empty.
///
/// ```compile_fail,E0277
/// let (owner, _thief) = raddle_base::deque::ring::<Box<u32>>();
/// std::thread::scope(|scope| {
///     scope.spawn(|| owner.push(Box::new(1))); // shared with another thread
/// });
/// ```
///
/// ```compile_fail,E0597
/// let (owner, _thief) = raddle_base::deque::ring::<Box<&'static u32>>();
/// let number = 5;
/// owner.push(Box::new(&number)); // does not live as long as what the ring holds
/// let _: Option<Box<&'static u32>> = owner.pop();
/// ```
pub struct Owner<T: Pointer> {
    ring: Arc<Ring>,
    /// A cell is not `Sync`: `push` and `pop` rely on being alone on this side. And it is
    /// invariant: a shared owner takes items in as well as it gives them out.
    alone: PhantomData<Cell<T>>,
}

// SAFETY: the items go with the owner (`T: Send`); the ring is made for other threads.
unsafe impl<T: Pointer + Send> Send for Owner<T> {}

impl<T: Pointer> Owner<T> {
    /// Called once for each ring.
    pub(crate) fn new(ring: Arc<Ring>) -> Self {
        Self { ring, alone: PhantomData }
    }

    /// Puts `item` behind all others, or gives it back when the ring is full.
    ///
    /// A ring counts as full also while a thief still reads from slots that it has claimed.
    #[inline]
    pub fn push(&self, item: T) -> Result<(), T> {
        let tail = self.tail();
        if self.free_after(tail) == 0 {
            return Err(item);
        }
        // SAFETY: we are the owner, and `free_after` has just found the index free, by acquire.
        unsafe { self.ring.write(tail, item.into_raw()) };
        self.publish(tail.wrapping_add(1));
        Ok(())
    }

    /// Takes the first item.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        // Relaxed: decides nothing that the exchange below does not confirm, and the slot was
        // written by this thread.
        let mut head = Head::from_bits(self.ring.ends.head.load(Ordering::Relaxed));
        let tail = self.tail();
        while head.real() != tail {
            // SAFETY: we are the owner and the index is queued, or was until a moment ago: then a
            // thief reads it too, and only we could write it.
            let item = unsafe { self.ring.read(head.real()) };
            // Relaxed on both ends: the item was pushed by this thread, and giving up the slot
            // concerns nobody but the next push, which is ours.
            let order = Ordering::Relaxed;
            let (old, new) = (head.bits(), head.popped().bits());
            match self.ring.ends.head.compare_exchange_weak(old, new, order, order) {
                // SAFETY: our exchange passed this index, so the item is ours, exactly once.
                Ok(_) => return Some(unsafe { T::from_raw(item) }),
                Err(seen) => head = Head::from_bits(seen),
            }
        }
        None
    }

    /// How many items are queued. Thieves may have taken some by the time it returns.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        // Relaxed: a number, nothing is read through it.
        let head = Head::from_bits(self.ring.ends.head.load(Ordering::Relaxed));
        ahead(head.real(), self.tail()) as usize
    }

    /// True when nothing is queued. Once true it stays true until this side pushes.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        // Relaxed: as in `len`. A head that is behind in time only makes this say "not empty".
        let head = Head::from_bits(self.ring.ends.head.load(Ordering::Relaxed));
        head.real() == self.tail()
    }

    /// How many items fit at least, now and until this side pushes.
    #[inline]
    #[must_use]
    pub fn free(&self) -> usize {
        self.free_after(self.tail()) as usize
    }

    /// Free slots behind `tail`, which is this ring's present tail.
    #[inline]
    fn free_after(&self, tail: u32) -> u32 {
        // Acquire: pairs with a thief's release of its claim: its reads of the slots that are
        // counted as free here happened before we write them.
        let head = Head::from_bits(self.ring.ends.head.load(Ordering::Acquire));
        CAPACITY - tail.wrapping_sub(head.claimed())
    }

    #[inline]
    fn tail(&self) -> u32 {
        // Relaxed: only this side stores it.
        self.ring.ends.tail.load(Ordering::Relaxed)
    }

    /// Makes all indices below `tail` visible.
    #[inline]
    fn publish(&self, tail: u32) {
        // Release: a thief that reads this tail must find the slots, and what the items point to.
        self.ring.ends.tail.store(tail, Ordering::Release);
    }

    /// Puts `items` behind all others, with one store of the tail. `items` must fit.
    pub(crate) fn extend_raw(&self, items: impl Iterator<Item = core::ptr::NonNull<()>>) {
        let (tail, free) = (self.tail(), self.free());
        let mut count: u32 = 0;
        for item in items {
            assert!((count as usize) < free, "more items than free slots");
            // SAFETY: we are the owner; the index is one of the `free` ones found by acquire.
            unsafe { self.ring.write(tail.wrapping_add(count), item) };
            count += 1;
        }
        self.publish(tail.wrapping_add(count));
    }
}

impl<T: Pointer> Drop for Owner<T> {
    fn drop(&mut self) {
        // A destructor that panics leaves the rest in the ring, from where it leaks.
        while let Some(item) = self.pop() {
            drop(item);
        }
    }
}

impl<T: Pointer> fmt::Debug for Owner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner").field("len", &self.len()).finish()
    }
}
