//! The name of one occupant of a slab: where it is, and which one it is.

use core::fmt;
use core::num::NonZeroU32;

/// Names one element of one [`Slab`](super::Slab), and never another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    generation: NonZeroU32,
    index: u32,
}

impl Key {
    pub(crate) const fn new(index: u32, generation: NonZeroU32) -> Self {
        Self { generation, index }
    }

    /// The place in the table. Other elements have had it and will have it.
    #[inline]
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Which occupant of the place.
    #[inline]
    #[must_use]
    pub const fn generation(self) -> NonZeroU32 {
        self.generation
    }

    /// The key as one number, generation above index; never below 2^32.
    #[inline]
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        (self.generation.get() as u64) << 32 | self.index as u64
    }

    /// The key with these bits; `None` below 2^32. Any other number is a key, though perhaps of
    /// nothing: look-ups tell.
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        match NonZeroU32::new((bits >> 32) as u32) {
            Some(generation) => Some(Self { generation, index: bits as u32 }),
            None => None,
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}v{})", self.index, self.generation)
    }
}
