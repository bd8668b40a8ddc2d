//! Who does a worker's duties, in one word.
//!
//! # Question
//!
//! A worker's queues, driver and timers are its own affair while it moves. When its thread is in a
//! blocking section, or in a dispatch that does not end, others must do them; and when it is back,
//! they must stop. How do all agree, at the cost of one load a turn for the owner?
//!
//! # States
//!
//! | state | who does the duties | entered by | left by |
//! |---|---|---|---|
//! | PRESENT | the worker | | |
//! | AWAY | others | the owner, which enters a blocking section | the owner |
//! | STUCK | others | the monitor | the owner at its next turn; the monitor, if the owner sleeps |
//!
//! Beside the state lies one flag, CALL: something has changed that the owner must look at (the
//! phase of the runtime, a sibling that needs relief, the pace of the clock). It says no more than
//! that, so that setting it needlessly does no harm.
//!
//! # Protocol
//!
//! The owner loads the word before each dispatch; anything but PRESENT without CALL sends it to
//! [`heed`](Duty::heed), which clears both the flag and STUCK. Who changes the phase does so first
//! and sets CALL afterwards. The runtime's count of absent workers goes up with each change from
//! PRESENT and down with each change to it, by whoever made the change. For a mark it goes up
//! first: the owner may take the mark off before the monitor gets any further.
//!
//! # Race
//!
//! The monitor takes a worker for stuck that goes to sleep at this moment: it would be absent for
//! as long as it sleeps, and others would stay awake for it. So the monitor, after the mark, looks
//! at the sleep word, and takes the mark back if the worker sleeps; the owner, after it has
//! written its sleep word, looks at the mark. Between the write and the look each has a full
//! fence.
//!
//! # Proof
//!
//! Of two full fences one comes first. If the owner's does, the monitor sees the sleep word and
//! takes the mark back. If the monitor's does, the owner sees the mark and does not sleep. Both may
//! try to remove it: the exchange lets one succeed, and that one lowers the count. The model
//! `model_nobody_sleeps_while_stuck` runs both; it is red without either fence.

use std::ptr;

use raddle_base::fork;
use raddle_base::shim::atomic::AtomicU32;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

const STATE: u32 = 3;
const PRESENT: u32 = 0;
const AWAY: u32 = 1;
const STUCK: u32 = 2;
const CALL: u32 = 4;

/// The word of one worker.
pub(crate) struct Duty(AtomicU32);

impl Duty {
    raddle_base::const_unless_loom! {
        /// Present, and called: the first turn looks at everything.
        pub(crate) const fn new() -> Self {
            Duty(AtomicU32::new(PRESENT | CALL))
        }
    }

    /// Whether the owner has something to [heed](Self::heed): one load a turn.
    #[inline]
    pub(crate) fn calls(&self) -> bool {
        // Relaxed: a hint, looked at again and again; `heed` orders.
        self.0.load(Relaxed) != PRESENT
    }

    /// Asks the owner to look.
    pub(crate) fn call(&self) {
        // Release: the owner that sees the flag sees what was changed before it.
        self.0.fetch_or(CALL, Release);
    }

    /// Asks the owner to look, in each child that this thread forks, until the guard is dropped.
    ///
    /// # Safety
    ///
    /// The word stays in place for as long.
    pub(crate) unsafe fn call_in_child(&self) -> fork::Telling {
        /// # Safety
        ///
        /// `duty` is a `Duty`.
        unsafe fn tell(duty: *const ()) {
            // SAFETY: as promised by the caller of `call_in_child`.
            unsafe { &*duty.cast::<Duty>() }.call();
        }
        // SAFETY: in place, as promised; `call` is one atomic operation.
        unsafe { fork::tell_in_child(ptr::from_ref(self).cast(), tell) }
    }

    /// The owner, which is not in a blocking section, has come back to its loop; true if it was
    /// taken for stuck.
    pub(crate) fn heed(&self) -> bool {
        // AcqRel: what the callers changed is visible; what the owner did while it was taken for
        // stuck is to the monitor.
        self.0.swap(PRESENT, AcqRel) & STATE == STUCK
    }

    /// The owner goes into a blocking section. What it was before.
    pub(crate) fn leave(&self) -> Before {
        self.change(|state| (state != AWAY).then_some(AWAY))
    }

    /// For the owner: whether it is in a blocking section.
    pub(crate) fn is_away(&self) -> bool {
        // Relaxed: only the owner enters and leaves this state.
        self.0.load(Relaxed) & STATE == AWAY
    }

    /// The owner comes back from a blocking section.
    pub(crate) fn come_back(&self) {
        let before = self.change(|state| (state == AWAY).then_some(PRESENT));
        debug_assert!(before == Before::Absent, "it was away");
    }

    /// For the monitor: the owner does not move. True if it was present until now.
    pub(crate) fn mark_stuck(&self) -> bool {
        self.change(|state| (state == PRESENT).then_some(STUCK)) == Before::Present
    }

    /// For the monitor: the owner sleeps. True if the mark was still there.
    pub(crate) fn take_back(&self) -> bool {
        let mut taken = false;
        self.change(|state| {
            taken = state == STUCK;
            taken.then_some(PRESENT)
        });
        taken
    }

    /// Whether others do the duties.
    #[inline]
    pub(crate) fn is_absent(&self) -> bool {
        // Acquire: what the worker did before it left is visible to who takes over.
        self.0.load(Acquire) & STATE != PRESENT
    }

    /// Whether the worker is taken for stuck.
    pub(crate) fn is_stuck(&self) -> bool {
        // Acquire: as above.
        self.0.load(Acquire) & STATE == STUCK
    }

    /// Changes the state and keeps the flag.
    fn change(&self, mut step: impl FnMut(u32) -> Option<u32>) -> Before {
        // Relaxed first look: the exchange decides.
        let mut now = self.0.load(Relaxed);
        while let Some(next) = step(now & STATE) {
            // AcqRel: each side must see what the other did before its own change.
            match self.0.compare_exchange_weak(now, now & CALL | next, AcqRel, Relaxed) {
                Ok(_) => break,
                Err(current) => now = current,
            }
        }
        if now & STATE == PRESENT { Before::Present } else { Before::Absent }
    }
}

/// What a worker was before a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// Its duties were its own.
    Present,
    /// Others did them already.
    Absent,
}

#[cfg(test)]
#[path = "tests/duty.rs"]
mod tests;
