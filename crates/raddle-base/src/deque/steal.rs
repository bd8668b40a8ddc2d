//! The thief's side of the ring: claim, read, release.
//!
//! A slot is read only through a [`Claim`]. Nothing between claim and release can panic, block or
//! run foreign code, so a claim lasts for a handful of instructions (and, at worst, while its
//! thread is not scheduled: the owner then finds fewer free slots, nothing worse).

use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::index::{Head, ahead};
use super::local::Owner;
use super::slots::{CAPACITY, Ring};
use crate::pointer::Pointer;
use crate::shim::Arc;
use crate::shim::atomic::Ordering;

/// The side of a ring that takes from it. Any number of clones, on any thread. See the
/// [module](crate::deque).
pub struct Thief<T: Pointer> {
    ring: Arc<Ring>,
    items: PhantomData<fn() -> T>,
}

// SAFETY: a thief moves items to its thread (`T: Send`) and lends none.
unsafe impl<T: Pointer + Send> Send for Thief<T> {}
// SAFETY: as above; all its methods work through the shared protocol.
unsafe impl<T: Pointer + Send> Sync for Thief<T> {}

impl<T: Pointer> Thief<T> {
    pub(crate) fn new(ring: Arc<Ring>) -> Self {
        Self { ring, items: PhantomData }
    }

    /// Takes the first half of what is queued, rounded up, but no more than fits into `into`
    /// besides the one that is returned. The oldest item is returned, the others are pushed to
    /// `into` in order.
    ///
    /// `None` means that nothing was queued or that another thief was at work; only
    /// [`is_empty`](Thief::is_empty) tells which. `into` may be the ring's own owner: then half of
    /// the items go from its front to its back.
    #[inline]
    pub fn steal_half(&self, into: &Owner<T>) -> Option<T> {
        let fits = into.free() as u32 + 1;
        let claim = self.claim(fits)?;
        let first = claim.read(0);
        into.extend_raw((1..claim.count).map(|nth| claim.read(nth)));
        drop(claim);
        // SAFETY: our claim passed this index, so the item is ours, and `first` was the only use.
        Some(unsafe { T::from_raw(first) })
    }

    /// Takes the first item. `None` as in [`steal_half`](Thief::steal_half).
    #[inline]
    pub fn steal_one(&self) -> Option<T> {
        let claim = self.claim(1)?;
        let first = claim.read(0);
        drop(claim);
        // SAFETY: our claim passed this index, so the item is ours, and `first` was the only use.
        Some(unsafe { T::from_raw(first) })
    }

    /// How many items were queued a moment ago: two loads.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        // Relaxed: numbers, nothing is read through them. The tail may be older than the head.
        let head = Head::from_bits(self.ring.ends.head.load(Ordering::Relaxed));
        let tail = self.ring.ends.tail.load(Ordering::Relaxed);
        // The head may be older as well, by any number of laps.
        ahead(head.real(), tail).min(CAPACITY) as usize
    }

    /// True when nothing was queued a moment ago: two loads. A worker that is about to sleep on
    /// this answer needs the fence of its sleep protocol before it.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Claims the first half of the queued items, at least one and at most `limit`.
    pub(crate) fn claim(&self, limit: u32) -> Option<Claim<'_>> {
        // Relaxed: decides nothing that the exchange below does not confirm.
        let mut head = Head::from_bits(self.ring.ends.head.load(Ordering::Relaxed));
        loop {
            if head.is_claimed() {
                return None;
            }
            // Acquire: pairs with the owner's store: slots below this tail are written.
            let tail = self.ring.ends.tail.load(Ordering::Acquire);
            let count = ahead(head.real(), tail).div_ceil(2).min(limit);
            if count == 0 {
                return None;
            }
            // Relaxed on both ends: what we will read is published by the tail, and that the owner
            // leaves it alone needs no ordering: `claimed` does not move.
            let order = Ordering::Relaxed;
            let (old, new) = (head.bits(), head.claim(count).bits());
            match self.ring.ends.head.compare_exchange_weak(old, new, order, order) {
                Ok(_) => return Some(Claim { ring: &self.ring, first: head.real(), count }),
                // The owner has popped, or a thief was faster: each time somebody got an item.
                Err(seen) => head = Head::from_bits(seen),
            }
        }
    }
}

/// The phase between claim and release: `count` items from index `first` on belong to the holder,
/// who may read their slots. Dropping it releases the slots to the owner.
pub(crate) struct Claim<'a> {
    ring: &'a Ring,
    first: u32,
    pub(crate) count: u32,
}

impl Claim<'_> {
    /// The `nth` of the claimed items, counted from 0.
    #[inline]
    pub(crate) fn read(&self, nth: u32) -> NonNull<()> {
        assert!(nth < self.count, "outside the claim");
        // SAFETY: we hold the claim on this index: it lay below a tail that was loaded by acquire,
        // and the owner does not write to it before `claimed` has moved, in `drop`.
        unsafe { self.ring.read(self.first.wrapping_add(nth)) }
    }
}

impl Drop for Claim<'_> {
    #[inline]
    fn drop(&mut self) {
        // Relaxed: only confirmed by the exchange.
        let mut head = Head::from_bits(self.ring.ends.head.load(Ordering::Relaxed));
        loop {
            // Release: our reads of the slots come before the owner's next writes to them. On
            // failure the owner has popped meanwhile; relaxed, nothing is read through it.
            let (done, failed) = (Ordering::Release, Ordering::Relaxed);
            let (old, new) = (head.bits(), head.released().bits());
            match self.ring.ends.head.compare_exchange_weak(old, new, done, failed) {
                Ok(_) => return,
                Err(seen) => head = Head::from_bits(seen),
            }
        }
    }
}

impl<T: Pointer> Clone for Thief<T> {
    fn clone(&self) -> Self {
        Self::new(self.ring.clone())
    }
}

impl<T: Pointer> fmt::Debug for Thief<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thief").field("len", &self.len()).finish()
    }
}
