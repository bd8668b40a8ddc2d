//! Which stack does an address belong to?
//!
//! Asked by the signal handler that looks at a fault, and by code that wants to know on which
//! stack it runs; so the answer takes no lock and allocates nothing.
//!
//! # States
//!
//! Arenas begin at multiples of 64 MiB (a *granule*) and consist of whole granules. A table has a
//! word for each granule of the address space: zero, or how the arena that covers it is cut. The
//! table has two levels; leaves are made when needed and never freed.
//!
//! | bits | what |
//! |---|---|
//! | 0..20 | pages of a slot, 0: no arena here |
//! | 20..40 | pages of its guard, at its lower end |
//! | 40..56 | which granule of its arena this is |
//!
//! # Protocol
//!
//! An arena's words are written before its first slot is given out, and zeroed after the last one
//! came back, before it is unmapped.
//!
//! # Proof
//!
//! A thread asks about an address on a stack that it runs on. That slot was handed to it after the
//! words were written, with the synchronisation of that hand-over, and the arena cannot go while
//! the slot is out. For any other address the answer may be out of date; it is never followed.

use super::sys::PAGE;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Bytes of a granule.
pub(crate) const GRANULE: usize = 64 << 20;
const LEAF: usize = 2048;
const ROOT: usize = 1024;
/// Largest slot: its pages have 20 bits.
pub(crate) const MAX_SLOT: usize = 1 << 31;

type Leaf = [AtomicU64; LEAF];

static TABLE: [AtomicPtr<Leaf>; ROOT] = [const { AtomicPtr::new(ptr::null_mut()) }; ROOT];

/// The addresses of one slot: guard from `guard` to `bottom`, stack from there to `top`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) guard: usize,
    pub(crate) bottom: usize,
    pub(crate) top: usize,
}

/// Bytes of an arena with slots of this size.
pub(crate) const fn arena_size(slot: usize) -> usize {
    slot.next_multiple_of(GRANULE)
}

/// Writes down how an arena is cut.
pub(crate) fn enter(base: usize, slot: usize, guard: usize) {
    let cut = (slot / PAGE) as u64 | ((guard / PAGE) as u64) << 20;
    for n in 0..arena_size(slot) / GRANULE {
        // Release: whoever sees the word (the leaf) sees what was done before.
        word(base + n * GRANULE).store(cut | (n as u64) << 40, Ordering::Release);
    }
}

/// Forgets an arena.
pub(crate) fn leave(base: usize, slot: usize) {
    for n in 0..arena_size(slot) / GRANULE {
        // Relaxed: nobody runs on it, so nobody's question depends on it.
        word(base + n * GRANULE).store(0, Ordering::Relaxed);
    }
}

/// The slot that an address lies in.
pub(crate) fn find(address: usize) -> Option<Place> {
    let granule = address / GRANULE;
    // Acquire: pairs with the publication of the leaf.
    let leaf = TABLE.get(granule / LEAF)?.load(Ordering::Acquire);
    if leaf.is_null() {
        return None;
    }
    // SAFETY: leaves are never freed.
    // Acquire: pairs with the store in `enter`.
    let cut = unsafe { &*leaf }[granule % LEAF].load(Ordering::Acquire);
    let slot = (cut & 0xf_ffff) as usize * PAGE;
    if slot == 0 {
        return None;
    }
    let base = (granule - (cut >> 40) as usize) * GRANULE;
    let start = base + (address - base) / slot * slot;
    let guard = (cut >> 20 & 0xf_ffff) as usize * PAGE;
    let whole = start + slot <= base + arena_size(slot);
    whole.then_some(Place { guard: start, bottom: start + guard, top: start + slot })
}

/// The word of a granule; makes its leaf if there is none.
fn word(address: usize) -> &'static AtomicU64 {
    let granule = address / GRANULE;
    let place = &TABLE[granule / LEAF];
    // Acquire: pairs with the exchange below, by whichever thread.
    let mut leaf = place.load(Ordering::Acquire);
    if leaf.is_null() {
        let made = Box::into_raw(Box::new([const { AtomicU64::new(0) }; LEAF]));
        // AcqRel: publishes the zeros, or sees those of the thread that was faster.
        let order = (Ordering::AcqRel, Ordering::Acquire);
        match place.compare_exchange(ptr::null_mut(), made, order.0, order.1) {
            Ok(_) => leaf = made,
            Err(other) => {
                // SAFETY: it was made here and published to nobody.
                drop(unsafe { Box::from_raw(made) });
                leaf = other;
            }
        }
    }
    // SAFETY: leaves are never freed.
    unsafe { &(&*leaf)[granule % LEAF] }
}

#[cfg(test)]
mod tests;
