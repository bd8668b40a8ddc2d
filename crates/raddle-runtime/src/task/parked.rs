//! What a task waited for when it was last put down, and since when: for dumps.
//!
//! Written by the worker that polls, after a poll that ended pending and before the task becomes
//! idle; not before, so that a spawn does not pay for it. Read by anybody who has seen the task
//! idle, or woken from there. The words are not written together, so a reader takes them only
//! between two looks at the task's state that say the same, see [`view`](crate::task::view).

use std::mem::MaybeUninit;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicPtr, AtomicU32};

use raddle_base::wait::WaitKind;

/// The place for the note.
pub(crate) struct Parked(MaybeUninit<Note>);

/// The words. Of std and not of the shim: a model's atomics have to be made before they are used,
/// and no model walks the tasks.
struct Note {
    at: AtomicPtr<Location<'static>>,
    /// The code of the kind; 0 where the poll noted nothing.
    kind: AtomicU32,
    /// The tick of the runtime's coarse clock.
    tick: AtomicU32,
}

/// What a task waits for, as far as it said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Noted {
    pub(crate) kind: Option<WaitKind>,
    pub(crate) at: Option<&'static Location<'static>>,
    pub(crate) tick: u32,
}

impl Parked {
    #[inline]
    pub(crate) const fn new() -> Self {
        Parked(MaybeUninit::uninit())
    }

    /// Notes the wait of the poll that has just ended. The caller has claimed the task.
    #[inline]
    pub(crate) fn note(&self, (kind, at): (u16, Option<&'static Location<'static>>), tick: u32) {
        // SAFETY: an atomic is its value and nothing else, so storing into one that was never
        // written makes it a valid one.
        let note = unsafe { &*self.0.as_ptr() };
        // Relaxed, all three: the release that makes the task idle publishes them.
        note.at.store(at.map_or(ptr::null_mut(), |at| ptr::from_ref(at).cast_mut()), Relaxed);
        note.kind.store(u32::from(kind), Relaxed);
        note.tick.store(tick, Relaxed);
    }

    /// The words as they are.
    ///
    /// # Safety
    ///
    /// The caller has seen the task idle, or woken, which it is only after it was idle.
    pub(crate) unsafe fn read(&self) -> Noted {
        // SAFETY: written before the task became idle for the first time.
        let note = unsafe { self.0.assume_init_ref() };
        // Relaxed, all three: the caller orders them by its looks at the state.
        let kind = WaitKind::from_code(note.kind.load(Relaxed) as u16);
        let at = note.at.load(Relaxed).cast_const();
        // SAFETY: what `note` stores is null or came from a reference that lives for ever.
        let at = kind.and(unsafe { at.as_ref() });
        Noted { kind, at, tick: note.tick.load(Relaxed) }
    }
}
