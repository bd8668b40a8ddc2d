//! What a waiter waits for: reading, writing, or either.

use std::ops::BitOr;

/// One of the two ways in which bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the kernel to us. Accepting counts as reading.
    Read,
    /// From us to the kernel. Connecting counts as writing.
    Write,
}

/// A set of directions, not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(u8);

/// The directions in which somebody waits for a descriptor, as bits of [`Interest`]; 0 if nobody
/// does.
pub(crate) type Waited = u8;

impl Interest {
    /// Waits for something to read, the end of input, or an error.
    pub const READABLE: Interest = Interest(1);
    /// Waits for room to write, or an error.
    pub const WRITABLE: Interest = Interest(2);
    /// Waits for either.
    pub const BOTH: Interest = Interest(3);

    /// Whether a direction is in the set.
    pub const fn contains(self, direction: Direction) -> bool {
        self.0 & Interest::of(direction).0 != 0
    }

    /// The set of one direction.
    pub const fn of(direction: Direction) -> Interest {
        match direction {
            Direction::Read => Interest::READABLE,
            Direction::Write => Interest::WRITABLE,
        }
    }

    /// The set as bits, to be kept where it may be empty.
    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    /// Whether two sets have a direction in common.
    pub const fn overlaps(self, other: Interest) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Interest {
    type Output = Interest;

    fn bitor(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }
}
