//! Address space for many stacks of one size: one mapping, cut into slots.
//!
//! ```text
//!  base                                                      base + arena size
//!  | guard |   stack 0   | guard |   stack 1   | ...      |  rest  |
//!          bottom        top
//! ```
//!
//! A slot's guard is made when the slot is given out for the first time. An arena has no lock of
//! its own: its pool's protects it.

use super::config::{Config, GuardKind};
use super::error::StackError;
use super::{map, sys};
use std::ptr::NonNull;

/// One mapping with slots.
pub(crate) struct Arena {
    base: NonNull<u8>,
    slot: usize,
    /// How many slots there are in all.
    slots: u32,
    /// How many have been given out so far at least once: those below have guards.
    pub(crate) fresh: u32,
    /// Slots that came back, the last one on top; see [`Free`].
    free: Vec<Free>,
    /// Guards here were refused by the kernel once, so they are made by protection.
    pub(crate) guards: GuardKind,
}

/// A slot that came back, and whether pages of it are still resident.
#[derive(Clone, Copy)]
pub(crate) struct Free {
    pub(crate) index: u32,
    pub(crate) warm: bool,
}

// SAFETY: an arena is a piece of address space that it owns; all threads are equal to it.
unsafe impl Send for Arena {}

impl Arena {
    /// Maps a new one.
    pub(crate) fn new(config: &Config) -> Result<Arena, StackError> {
        let size = map::arena_size(config.slot);
        let base = sys::map(size, map::GRANULE)?;
        // Exposed: control blocks are found by address.
        map::enter(base.as_ptr().expose_provenance(), config.slot, config.guard);
        let guards = if config.mprotect { GuardKind::Mprotect } else { GuardKind::Install };
        let slots = (size / config.slot) as u32;
        Ok(Arena { base, slot: config.slot, slots, fresh: 0, free: Vec::new(), guards })
    }

    /// The upper end of a slot.
    pub(crate) fn top(&self, index: u32) -> NonNull<u8> {
        // SAFETY: slots end within the mapping.
        unsafe { self.base.add((index as usize + 1) * self.slot) }
    }

    /// Which slot ends at `top`?
    pub(crate) fn index(&self, top: NonNull<u8>) -> u32 {
        ((top.addr().get() - self.base.addr().get()) / self.slot) as u32 - 1
    }

    /// Takes the slot that came back last.
    pub(crate) fn take(&mut self) -> Option<Free> {
        self.free.pop()
    }

    /// Takes a slot back.
    pub(crate) fn give(&mut self, slot: Free) {
        self.free.push(slot);
    }

    /// Have all slots come back?
    pub(crate) fn idle(&self) -> bool {
        self.free.len() == self.fresh as usize
    }

    /// How many slots came back.
    pub(crate) fn free(&self) -> usize {
        self.free.len()
    }

    /// Are all slots out?
    pub(crate) fn exhausted(&self) -> bool {
        self.free.is_empty() && self.fresh == self.slots
    }

    /// Free slots with resident pages.
    pub(crate) fn warm(&self) -> usize {
        self.free.iter().filter(|slot| slot.warm).count()
    }

    /// Makes the guard of the next slot that was never given out. `may_map` is asked before a guard
    /// that costs mappings.
    pub(crate) fn make(
        &mut self,
        guard: usize,
        may_map: impl FnOnce() -> Result<(), StackError>,
    ) -> Result<u32, StackError> {
        // SAFETY: the next slot lies within the mapping: the arena is not exhausted.
        let start = unsafe { self.base.add(self.fresh as usize * self.slot) };
        if self.guards == GuardKind::Install && !sys::guard_by_advice(start, guard) {
            // An old kernel, or memory that is locked in spite of all.
            self.guards = GuardKind::Mprotect;
        }
        if self.guards == GuardKind::Mprotect {
            may_map()?;
            sys::guard_by_protection(start, guard).map_err(|code| match code {
                libc::ENOMEM => {
                    StackError::Mappings { limit: sys::max_mappings(), stacks: self.fresh as usize }
                }
                code => StackError::Os(code),
            })?;
        }
        self.fresh += 1;
        Ok(self.fresh - 1)
    }

    /// Gives the address space back.
    ///
    /// # Safety
    ///
    /// All slots have come back.
    pub(crate) unsafe fn unmap(self) {
        map::leave(self.base.addr().get(), self.slot);
        // SAFETY: no slot is out, so nobody uses any of it.
        unsafe { sys::unmap(self.base, map::arena_size(self.slot)) };
    }
}
