//! All stacks of one kind: where they come from, and where they go when a thread has enough.
//!
//! # States
//!
//! A slot is *fresh* (never given out, no guard), *out* (a stack somebody has, or one in a thread's
//! cache), *free* (came back) or *abandoned* (out for ever: what lies on it was not unwound). Free
//! slots are *warm* (pages at their upper end are still resident) or *cold*.
//!
//! # Protocol
//!
//! One lock for a pool. Slots are taken from the first arena that has one, free before fresh, so
//! that later arenas run empty. An arena whose slots have all come back is unmapped, unless it is
//! the only such one. System calls about guards and arenas are made under the lock: they are rare,
//! and whoever waits wants their outcome. Pages are released before the lock is taken.
//!
//! # Proof
//!
//! An arena goes only when every slot that was ever out is free, and abandoned slots never are; so
//! no stack that still holds anything is unmapped or given out again.

use super::arena::{Arena, Free};
use super::config::{Config, GuardKind};
use super::error::StackError;
use super::sys;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stacks whose guards cost mappings, in the whole process.
static PROTECTED: AtomicUsize = AtomicUsize::new(0);

/// A slot that is out.
pub(crate) struct Slot {
    pub(crate) top: NonNull<u8>,
    pub(crate) arena: u32,
    /// May have resident pages.
    pub(crate) warm: bool,
}

/// All stacks of one kind.
pub(crate) struct Pool {
    pub(crate) config: Config,
    state: Mutex<State>,
    /// Free warm slots, about.
    warm: AtomicUsize,
    /// Stacks with guards that cost mappings.
    protected: AtomicUsize,
    pub(crate) abandoned: AtomicUsize,
}

struct State {
    /// Numbers stay as they are; a gap is reused.
    arenas: Vec<Option<Arena>>,
    /// No arena before this one has a slot to give.
    first: usize,
    /// Arenas whose slots are all free.
    idle: usize,
}

/// How many stacks there are, and what they are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Pieces of address space, of 64 MiB for usual sizes.
    pub arenas: usize,
    /// Stacks that have been made and not been unmapped, free ones included.
    pub stacks: usize,
    /// Of these, in use or kept by a thread for its next use.
    pub out: usize,
    /// Of these, never to be used again, because what lies on them could not be unwound.
    pub abandoned: usize,
    /// How the newest guard was made; `None` before the first.
    pub guards: Option<GuardKind>,
}

impl Pool {
    pub(crate) fn new(config: Config) -> Pool {
        let state = State { arenas: Vec::new(), first: 0, idle: 0 };
        Pool {
            config,
            state: Mutex::new(state),
            warm: AtomicUsize::new(0),
            protected: AtomicUsize::new(0),
            abandoned: AtomicUsize::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half-way; and if, the lists are still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up to `more` slots that came back into `cache`, and one to use now, which is made if
    /// there is none.
    pub(crate) fn take(&self, more: usize, cache: &mut Vec<Slot>) -> Result<Slot, StackError> {
        let mut state = self.lock();
        let mut found = None;
        while cache.len() < more || found.is_none() {
            let Some(slot) = self.reuse(&mut state) else { break };
            if let Some(slot) = found.replace(slot) {
                cache.push(slot);
            }
        }
        match found {
            Some(slot) => Ok(slot),
            None => self.make(&mut state),
        }
    }

    /// A slot that came back.
    fn reuse(&self, state: &mut State) -> Option<Slot> {
        let mut number = state.first;
        let mut fresh = None;
        while let Some(arena) = state.arenas.get_mut(number) {
            let Some(arena) = arena else {
                number += 1;
                continue;
            };
            let was_idle = arena.idle();
            if let Some(free) = arena.take() {
                let slot =
                    Slot { top: arena.top(free.index), arena: number as u32, warm: free.warm };
                state.first = fresh.unwrap_or(number);
                state.idle -= usize::from(was_idle);
                // Relaxed: a statistic that steers what is kept.
                self.warm.fetch_sub(usize::from(free.warm), Ordering::Relaxed);
                return Some(slot);
            }
            if !arena.exhausted() {
                fresh = fresh.or(Some(number));
            }
            number += 1;
        }
        state.first = fresh.unwrap_or(number);
        None
    }

    /// A slot that was never out, of the first arena that has one, or of a new one.
    fn make(&self, state: &mut State) -> Result<Slot, StackError> {
        let begun = |arena: &Option<Arena>| arena.as_ref().is_some_and(|arena| !arena.exhausted());
        let number = match state.arenas.iter().skip(state.first).position(begun) {
            Some(number) => state.first + number,
            None => {
                // Asked before the arena is mapped, so that a refusal leaves nothing behind.
                if self.config.mprotect {
                    self.may_protect()?;
                }
                let arena = Some(Arena::new(&self.config)?);
                let gap = state.arenas.iter().position(Option::is_none);
                let number = gap.unwrap_or(state.arenas.len());
                if gap.is_some() {
                    state.arenas[number] = arena;
                } else {
                    state.arenas.push(arena);
                }
                state.idle += 1;
                number
            }
        };
        let Some(arena) = &mut state.arenas[number] else { return Err(StackError::OutOfMemory) };
        let was_idle = arena.idle();
        let index = arena.make(self.config.guard, || self.may_protect())?;
        if arena.guards == GuardKind::Mprotect {
            // Relaxed, both: counters that limit; a thread that is a few behind is within the rest.
            PROTECTED.fetch_add(1, Ordering::Relaxed);
            self.protected.fetch_add(1, Ordering::Relaxed);
        }
        let slot = Slot { top: arena.top(index), arena: number as u32, warm: true };
        state.idle -= usize::from(was_idle);
        Ok(slot)
    }

    /// Is there room for one more guard that costs two mappings? An eighth is left to others.
    fn may_protect(&self) -> Result<(), StackError> {
        // Relaxed: see where they are counted.
        let (limit, stacks) = match self.config.mappings {
            Some(limit) => (limit, self.protected.load(Ordering::Relaxed)),
            None => (sys::max_mappings(), PROTECTED.load(Ordering::Relaxed)),
        };
        if (stacks + 1) * 2 > limit - limit / 8 {
            return Err(StackError::Mappings { limit, stacks });
        }
        Ok(())
    }

    /// Gives back what lies below the mark, if the stack was ever used so deep. Stacks grow page by
    /// page, so it was if the page below the mark is resident.
    pub(crate) fn trim(&self, slot: &Slot) {
        let (usable, keep) = (self.usable(), self.config.keep);
        if keep >= usable {
            return;
        }
        // SAFETY: both addresses lie in the slot.
        let (bottom, below) = unsafe { (slot.top.sub(usable), slot.top.sub(keep + sys::PAGE)) };
        if sys::resident(below) {
            // SAFETY: nobody has the stack, so nothing on it is used.
            unsafe { sys::release(bottom, usable - keep) };
        }
    }

    /// Bytes of a stack without its guard.
    pub(crate) fn usable(&self) -> usize {
        self.config.slot - self.config.guard
    }

    /// Takes slots back. Few of them keep their pages.
    pub(crate) fn give(&self, slots: &mut dyn Iterator<Item = Slot>) {
        let slots: Vec<Slot> = slots.map(|slot| self.cool(slot)).collect();
        let mut unmapped = Vec::new();
        let mut state = self.lock();
        for slot in slots {
            let number = slot.arena as usize;
            let Some(arena) = state.arenas.get_mut(number).and_then(Option::as_mut) else {
                continue;
            };
            arena.give(Free { index: arena.index(slot.top), warm: slot.warm });
            let idle = arena.idle();
            state.first = state.first.min(number);
            state.idle += usize::from(idle);
            if idle && state.idle > 1 {
                state.idle -= 1;
                unmapped.extend(state.arenas[number].take());
            }
        }
        drop(state);
        for arena in unmapped {
            self.forget(arena);
        }
    }

    /// Releases the pages of a slot if enough others keep theirs.
    fn cool(&self, slot: Slot) -> Slot {
        // Relaxed: a statistic; a few more or less warm slots do not matter.
        if !slot.warm {
            return slot;
        }
        if self.warm.fetch_add(1, Ordering::Relaxed) < self.config.warm {
            self.trim(&slot);
            return slot;
        }
        self.warm.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the usable part of a slot that nobody has.
        unsafe { sys::release(slot.top.sub(self.usable()), self.usable()) };
        Slot { warm: false, ..slot }
    }

    fn forget(&self, arena: Arena) {
        // Relaxed, all: statistics, see where they are counted.
        self.warm.fetch_sub(arena.warm(), Ordering::Relaxed);
        if arena.guards == GuardKind::Mprotect {
            PROTECTED.fetch_sub(arena.fresh as usize, Ordering::Relaxed);
            self.protected.fetch_sub(arena.fresh as usize, Ordering::Relaxed);
        }
        // SAFETY: taken out of the pool while all its slots were free.
        unsafe { arena.unmap() };
    }

    /// Unmaps what is wholly free, also the last such arena.
    pub(crate) fn shrink(&self) {
        let mut state = self.lock();
        let mut unmapped = Vec::new();
        for place in &mut state.arenas {
            if place.as_ref().is_some_and(Arena::idle) {
                unmapped.extend(place.take());
            }
        }
        state.idle = 0;
        drop(state);
        for arena in unmapped {
            self.forget(arena);
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        let state = self.lock();
        let arenas = || state.arenas.iter().flatten();
        let stacks = arenas().map(|arena| arena.fresh as usize).sum();
        let free: usize = arenas().map(Arena::free).sum();
        Stats {
            arenas: arenas().count(),
            stacks,
            out: stacks - free,
            // Relaxed: a statistic.
            abandoned: self.abandoned.load(Ordering::Relaxed),
            guards: arenas().rfind(|arena| arena.fresh > 0).map(|arena| arena.guards),
        }
    }
}
