//! Buffers from which the kernel picks when it receives.
//!
//! One pool per ring: a range of memory cut into buffers of equal size, and a ring of entries that
//! the kernel reads and this process fills. Only the owner fills it. A buffer consumed on another
//! thread goes through a queue that the owner empties at its next look; nobody is woken for that,
//! because a ring that ran dry makes receivers use memory of their own instead of waiting.
//!
//! The kernel takes buffers in the order in which they were given, so all that were given are
//! touched in turn. To keep that set small (and in the cache), the pool begins with a few and
//! gives more when a receive found none.
//!
//! | field | access |
//! |---|---|
//! | `entries` and its tail | written by the owner, read by the kernel |
//! | `data[i]` | the kernel while given; else whoever holds piece `i` |
//! | `returned` | anybody, under its lock |

use crate::owner::OwnerCell;
use crate::sys::map::Map;
use crate::sys::uring::{BufferEntry, Uring, buffer_tail};
use crate::wake::Flag;
use raddle_base::shim::mutex::Mutex;
use std::cell::Cell;
use std::io;
use std::sync::atomic::Ordering;

/// The name of the pool within its ring.
pub(crate) const GROUP: u16 = 0;
/// How many buffers are given at the beginning.
const FIRST: u32 = 64;

/// The buffers of one ring.
pub(crate) struct Pool {
    ring: Map,
    data: Map,
    entries: u32,
    size: u32,
    own: OwnerCell<Own>,
    returned: Mutex<Vec<u16>>,
    has_returned: Flag,
}

/// What the owner keeps.
struct Own {
    tail: Cell<u16>,
    /// Buffers below this have been given at least once.
    given: Cell<u32>,
}

impl Pool {
    /// Makes `entries` (a power of two) buffers of `size` bytes known to `uring`. To be called on
    /// the owner's thread.
    pub(crate) fn new(uring: &Uring, entries: u32, size: u32) -> io::Result<Pool> {
        let ring = Map::new(entries as usize * size_of::<BufferEntry>())?;
        ring.keep_from_children();
        let data = Map::new(entries as usize * size as usize)?;
        // SAFETY: page-aligned room for so many entries, which lives as long as the pool; whoever
        // owns the pool closes the ring first or unregisters the group.
        unsafe { uring.register_buffers(ring.start().cast(), entries, GROUP)? };
        let own = OwnerCell::new(Own { tail: Cell::new(0), given: Cell::new(0) });
        let (returned, has_returned) = (Mutex::new(Vec::new()), Flag::new());
        let pool = Pool { ring, data, entries, size, own, returned, has_returned };
        pool.grow_to(FIRST);
        Ok(pool)
    }

    /// Gives twice as many buffers as so far. False if all are given, or on another thread.
    pub(crate) fn grow(&self) -> bool {
        let Some(own) = self.own.get() else { return false };
        let given = own.given.get();
        self.grow_to(given * 2);
        own.given.get() > given
    }

    /// So many buffers were filled in one turn: gives more before a receive finds none.
    pub(crate) fn expect(&self, filled: u32) {
        if let Some(own) = self.own.get()
            && filled >= own.given.get() / 2
        {
            self.grow();
        }
    }

    fn grow_to(&self, count: u32) {
        let Some(own) = self.own.get() else { return };
        let count = count.min(self.entries);
        for id in own.given.get()..count {
            self.provide(own, id as u16);
        }
        own.given.set(own.given.get().max(count));
    }

    /// Gives a buffer to the kernel.
    fn provide(&self, own: &Own, id: u16) {
        let tail = own.tail.get();
        let slot = usize::from(tail) & (self.entries as usize - 1);
        let ring = self.ring.start().cast::<BufferEntry>();
        let addr = self.data.start().wrapping_add(usize::from(id) * self.size as usize);
        // SAFETY: the slot is within the ring, and free: there are as many slots as buffers, and
        // this buffer was in none. The last field is left alone: in slot 0 it is the tail.
        unsafe {
            let entry = ring.add(slot);
            (&raw mut (*entry).addr).write(addr.expose_provenance() as u64);
            (&raw mut (*entry).len).write(self.size);
            (&raw mut (*entry).id).write(id);
        }
        own.tail.set(tail.wrapping_add(1));
        // SAFETY: the start of our live ring. Release: the entry is written before it is seen.
        unsafe { buffer_tail(ring) }.store(own.tail.get(), Ordering::Release);
    }

    /// A buffer was consumed, on whichever thread.
    #[inline]
    pub(crate) fn give_back(&self, id: u16) {
        match self.own.get() {
            Some(own) => self.provide(own, id),
            None => self.give_back_elsewhere(id),
        }
    }

    #[cold]
    fn give_back_elsewhere(&self, id: u16) {
        self.returned.lock().push(id);
        // Nobody has to ring for it: the owner finds the flag when it next looks.
        let _ = self.has_returned.raise();
    }

    /// Gives what other threads have returned. One load if there is nothing. Owner only.
    #[inline]
    pub(crate) fn reclaim(&self) {
        if self.has_returned.take() {
            self.reclaim_now();
        }
    }

    #[cold]
    fn reclaim_now(&self) {
        let Some(own) = self.own.get() else { return };
        let returned = std::mem::take(&mut *self.returned.lock());
        for id in returned {
            self.provide(own, id);
        }
    }

    /// The first `len` bytes of a buffer.
    ///
    /// # Safety
    ///
    /// The kernel has filled them and told so, and the caller holds the buffer: it was not given
    /// back since.
    #[inline]
    pub(crate) unsafe fn filled(&self, id: u16, len: u32) -> &[u8] {
        debug_assert!(u32::from(id) < self.entries && len <= self.size);
        let at = self.data.start().wrapping_add(usize::from(id) * self.size as usize);
        // SAFETY: within the mapping, initialised (it was mapped zeroed), and left alone by the
        // kernel until it is given back.
        unsafe { std::slice::from_raw_parts(at.cast_const(), len as usize) }
    }

    /// How many times a buffer was given so far, modulo 2^16.
    #[cfg(test)]
    pub(crate) fn given(&self) -> u16 {
        self.own.get().expect("the owner asks").tail.get()
    }

    /// How large a buffer is.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }
}

#[cfg(test)]
#[path = "tests/buffers.rs"]
mod tests;
