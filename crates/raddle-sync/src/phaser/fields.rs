//! The fields of a phaser's word, and its transitions. The table stands in `phaser.rs`.

const CLOSED: usize = 1;
const REGISTERED_SHIFT: u32 = 1;
const MISSING_SHIFT: u32 = 17;
const PHASE_SHIFT: u32 = 33;
const PARTIES: usize = 0xffff;
const PHASE: usize = (1 << 30) - 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fields(pub(super) usize);

impl Fields {
    pub(super) const MAX_PARTIES: usize = PARTIES;
    pub(super) const MAX_PHASE: u32 = PHASE as u32;

    pub(super) fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    pub(super) fn registered(self) -> usize {
        self.0 >> REGISTERED_SHIFT & PARTIES
    }

    pub(super) fn missing(self) -> usize {
        self.0 >> MISSING_SHIFT & PARTIES
    }

    pub(super) fn phase(self) -> u32 {
        (self.0 >> PHASE_SHIFT) as u32
    }

    pub(super) fn closed(self) -> Self {
        Fields(self.0 | CLOSED)
    }

    /// With `count` parties more, all missing. `None` if that is too many, or it is closed.
    pub(super) fn add(self, count: usize) -> Option<Self> {
        let fits = count <= PARTIES - self.registered() && !self.is_closed();
        fits.then(|| Fields(self.0 + (count << REGISTERED_SHIFT) + (count << MISSING_SHIFT)))
    }

    pub(super) fn without_registered(self, count: usize) -> Self {
        debug_assert!(count <= self.registered(), "more parties go than there are");
        Fields(self.0 - (count << REGISTERED_SHIFT))
    }

    pub(super) fn fewer_missing(self, count: usize) -> Self {
        debug_assert!(count <= self.missing(), "more parties arrive than are missing");
        Fields(self.0 - (count << MISSING_SHIFT))
    }

    /// With `count` missing ones fewer, and whether that ends the phase: then all who are
    /// registered are missing in the next one.
    pub(super) fn without_missing(self, count: usize) -> (Self, bool) {
        let fewer = self.fewer_missing(count);
        if fewer.missing() > 0 || count == 0 {
            return (fewer, false);
        }
        let phase = (self.0 >> PHASE_SHIFT).wrapping_add(1) & PHASE;
        let kept = self.0 & CLOSED | fewer.registered() << REGISTERED_SHIFT;
        (Fields(kept | fewer.registered() << MISSING_SHIFT | phase << PHASE_SHIFT), true)
    }
}
