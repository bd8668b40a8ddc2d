//! The word in front of the ring: where the queued items begin, and where the slots begin that a
//! thief still reads.
//!
//! | claimed | real | meaning |
//! |---|---|---|
//! | i | i | no thief; queued items begin at `i` |
//! | i | i + n + k, n ≥ 1 | one thief reads `i .. i + n`; the owner has popped `k` since |
//!
//! Owner and thief change it by exchange only, each with one of the verbs below. Indices wrap at
//! 2^32, so they are compared by distance, never by `<`.

use crate::packed;

packed! {
    /// Both beginnings, in one word because they must change together.
    pub(crate) struct Head: u64 {
        /// First index that the owner may not overwrite yet.
        CLAIMED: u32 = 0..32 => claimed, with_claimed;
        /// First index that is queued.
        REAL: u32 = 32..64 => real, with_real;
    }
}

impl Head {
    /// Queued items begin at `index` and no thief is at work.
    #[inline]
    #[must_use]
    pub(crate) const fn at(index: u32) -> Self {
        Self::ZERO.with_claimed(index).with_real(index)
    }

    /// True between a thief's claim and its release.
    #[inline]
    #[must_use]
    pub(crate) const fn is_claimed(self) -> bool {
        self.claimed() != self.real()
    }

    /// The owner pops the first item. What a thief is reading stays claimed.
    #[inline]
    #[must_use]
    pub(crate) const fn popped(self) -> Self {
        let real = self.real().wrapping_add(1);
        if self.is_claimed() { self.with_real(real) } else { Self::at(real) }
    }

    /// A thief claims the first `count` items. Asked only while nobody has a claim.
    #[inline]
    #[must_use]
    pub(crate) const fn claim(self, count: u32) -> Self {
        debug_assert!(!self.is_claimed() && count > 0, "one thief at a time, and not for nothing");
        self.with_real(self.real().wrapping_add(count))
    }

    /// The thief has read what it claimed.
    #[inline]
    #[must_use]
    pub(crate) const fn released(self) -> Self {
        debug_assert!(self.is_claimed(), "released without a claim");
        self.with_claimed(self.real())
    }
}

/// How far `to` is ahead of `from`; 0 when it is not ahead, which happens when `to` was read from
/// an older state than `from`.
#[inline]
#[must_use]
pub(crate) const fn ahead(from: u32, to: u32) -> u32 {
    let distance = to.wrapping_sub(from);
    if distance.cast_signed() < 0 { 0 } else { distance }
}
