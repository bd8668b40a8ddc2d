//! The bits that a process looks at without its lock. What they mean is in `control.rs`.

use raddle_base::shim::atomic::AtomicU32;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed};

pub(crate) const TRAP: u32 = 1;
pub(crate) const DOOMED: u32 = 2;
pub(crate) const EVENTS: u32 = 4;
pub(crate) const WATCHED: u32 = 8;
pub(crate) const EXITING: u32 = 16;
pub(crate) const DONE: u32 = 32;
pub(crate) const KILLED: u32 = 64;

/// The word, which lies beside the lock of the joiners' queue.
#[derive(Clone, Copy)]
pub(crate) struct Word<'a>(pub(crate) &'a AtomicU32);

impl Word<'_> {
    /// Whether one of these bits is set, for a caller without the lock.
    #[inline]
    pub(crate) fn has(self, bits: u32) -> bool {
        // Acquire: what led to the bit is visible; `DONE` and `EXITING` tell of all before them.
        self.0.load(Acquire) & bits != 0
    }

    /// The same under the lock.
    #[inline]
    pub(crate) fn has_locked(self, bits: u32) -> bool {
        // Relaxed: the bits asked for are written under the lock that the caller holds.
        self.0.load(Relaxed) & bits != 0
    }

    #[inline]
    pub(crate) fn set(self, bits: u32) {
        // Release: pairs with `has`. Acquire: a change of one bit carries on what others published.
        self.0.fetch_or(bits, AcqRel);
    }

    #[inline]
    pub(crate) fn clear(self, bits: u32) {
        // As in `set`.
        self.0.fetch_and(!bits, AcqRel);
    }
}
