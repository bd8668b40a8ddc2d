//! What a process is called: a place and the number of its occupant.
//!
//! A pid is a name and not a handle: it keeps nothing alive, and a pid of a process that is gone
//! names nobody, ever again.

use std::fmt;

use raddle_base::slab::Key;

/// How many bits of an index say which shard of the registry it belongs to.
pub(crate) const SHARD_BITS: u32 = 4;

/// The name of one process: unique within this program, and never used twice.
///
/// Printed as `<index.generation>`. Eight bytes, `Copy`, and the same in every runtime of the
/// program. Ordered by index and then generation, which says nothing about age.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pid {
    key: Key,
}

impl Pid {
    /// The pid of the element `key` of a shard.
    ///
    /// # Panics
    ///
    /// If the shard has more elements than fit the bits that are left, 2^28: memory ends before.
    pub(crate) fn new(shard: usize, key: Key) -> Pid {
        assert!(key.index() >> (32 - SHARD_BITS) == 0, "too many processes in one shard");
        let index = key.index() << SHARD_BITS | shard as u32;
        let bits = u64::from(key.generation().get()) << 32 | u64::from(index);
        let Some(key) = Key::from_bits(bits) else { unreachable!("a generation is not zero") };
        Pid { key }
    }

    /// The shard of the registry, and the key in it.
    pub(crate) fn place(self) -> (usize, Key) {
        let shard = self.key.index() & ((1 << SHARD_BITS) - 1);
        let bits = self.to_bits() & !0xFFFF_FFFF | u64::from(self.key.index() >> SHARD_BITS);
        let Some(key) = Key::from_bits(bits) else { unreachable!("a generation is not zero") };
        (shard as usize, key)
    }

    /// The place in the table of processes. Others have had it, and others will.
    #[inline]
    pub const fn index(self) -> u32 {
        self.key.index()
    }

    /// Which occupant of its place it is.
    #[inline]
    pub const fn generation(self) -> u32 {
        self.key.generation().get()
    }

    /// The pid as one number, for logs and wires.
    #[inline]
    pub const fn to_bits(self) -> u64 {
        self.key.to_bits()
    }

    /// The pid with these bits, if they can be one. Whether it names somebody is another question.
    #[inline]
    pub const fn from_bits(bits: u64) -> Option<Pid> {
        match Key::from_bits(bits) {
            Some(key) => Some(Pid { key }),
            None => None,
        }
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}.{}>", self.index(), self.generation())
    }
}

impl fmt::Debug for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pid<{}.{}>", self.index(), self.generation())
    }
}
