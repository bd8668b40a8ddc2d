//! What a worker loads before every dispatch to learn whether the kernel has something for it.
//!
//! A call through a trait object before each dispatch would cost more than the dispatch. A driver
//! therefore hands out one doorbell: the addresses of the words the kernel writes (the tail of
//! the completion queue and the flags of the submission queue) and two cells the owner keeps (how
//! far it has read, how many entries it has prepared and not yet submitted). Looking is two loads
//! and two comparisons. A driver that has no such words (epoll) uses a silent doorbell.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// Never written after start: what a silent doorbell looks at.
static NOTHING: AtomicU32 = AtomicU32::new(0);

/// In `owed`: the driver must be asked by a system call.
const POLLED: u32 = 1 << 31;

/// The words to look at, and the owner's own counts. Belongs to the driver's owner thread.
#[derive(Debug)]
pub struct Doorbell {
    tail: *const AtomicU32,
    flags: *const AtomicU32,
    mask: u32,
    seen: Cell<u32>,
    /// Entries prepared, and [`POLLED`]: one word, because most looks ask for both.
    owed: Cell<u32>,
}

impl Doorbell {
    /// A doorbell that never rings by itself: for a driver that must be asked by a system call.
    pub fn silent() -> Self {
        Doorbell {
            tail: &raw const NOTHING,
            flags: &raw const NOTHING,
            mask: 0,
            seen: Cell::new(0),
            owed: Cell::new(0),
        }
    }

    /// A doorbell over a completion queue's `tail` and a submission queue's `flags`, of which the
    /// bits in `mask` mean "there is work".
    ///
    /// # Safety
    ///
    /// Both pointers must stay valid for reads for as long as the doorbell is used. The driver
    /// that owns the mapping keeps this by owning the doorbell too.
    pub unsafe fn new(tail: *const AtomicU32, flags: *const AtomicU32, mask: u32) -> Self {
        Doorbell { tail, flags, mask, seen: Cell::new(0), owed: Cell::new(0) }
    }

    /// Whether the kernel has posted something the owner has not read, or asks to be entered.
    #[inline]
    pub fn rung(&self) -> bool {
        // SAFETY: valid for reads as promised to `new`; `NOTHING` is a static.
        let (tail, flags) = unsafe { (&*self.tail, &*self.flags) };
        // Relaxed: a hint only. Whoever then reads the queue does so with acquire.
        // One branch for both: nearly always there is nothing.
        let posted = tail.load(Ordering::Relaxed) ^ self.seen.get();
        posted | flags.load(Ordering::Relaxed) & self.mask != 0
    }

    /// Whether the owner has prepared entries, or must ask the driver by time: one load for both.
    #[inline]
    pub fn is_owed(&self) -> bool {
        self.owed.get() != 0
    }

    /// How many entries are prepared and not yet submitted.
    #[inline]
    pub fn prepared(&self) -> u32 {
        self.owed.get() & !POLLED
    }

    /// Whether the driver waits for something that only a system call reveals (epoll): its owner
    /// then asks it by time.
    #[inline]
    pub fn is_polled(&self) -> bool {
        self.owed.get() & POLLED != 0
    }

    /// The driver begins or ends to wait for something that only a system call reveals.
    #[inline]
    pub fn set_polled(&self, polled: bool) {
        self.owed.set(self.prepared() | if polled { POLLED } else { 0 });
    }

    /// The owner has read the completion queue up to `head`.
    #[inline]
    pub fn set_seen(&self, head: u32) {
        self.seen.set(head);
    }

    /// The owner has `count` entries prepared.
    #[inline]
    pub fn set_prepared(&self, count: u32) {
        debug_assert!(count & POLLED == 0);
        self.owed.set(self.owed.get() & POLLED | count);
    }
}

#[cfg(test)]
#[path = "tests/doorbell.rs"]
mod tests;
