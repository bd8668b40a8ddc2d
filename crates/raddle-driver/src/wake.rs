//! The nudge from another thread: an eventfd, and the two reasons to ring it.
//!
//! # Question
//!
//! A thread that owns a driver blocks in the kernel. How does any other thread make it return,
//! whenever it asks, at one system call at most, and at none while the owner has not taken notice
//! of an earlier nudge?
//!
//! # States
//!
//! | flag | set by | taken by | means |
//! |---|---|---|---|
//! | token | `unpark` | the next `park`, never a look | the next or present park returns |
//! | errand | `post` | the next look or park | the inbox is not empty |
//!
//! # Protocol
//!
//! Whoever sets a flag that was clear rings the eventfd, which is armed before the owner can
//! block for the first time and stays armed. The owner takes the token before it blocks and after
//! it returns; it takes the errand flag, then empties the inbox.
//!
//! # Race
//!
//! The owner looks at both flags (clear) and is about to block; another thread sets one and rings.
//! The ring is an edge of a descriptor that is armed already, so the wait returns at once. A
//! second nudge finds the flag set and does not ring; the owner still owes a return for the first.
//!
//! # Proof
//!
//! Flags are set and taken by swaps. A swap that finds the flag set still releases, and the swap
//! that takes it acquires from the whole sequence, so everything published before any nudge is
//! visible to the owner after it took the flag. Model: `model_nudges_are_not_lost`.

use crate::sys::eventfd;
use raddle_base::shim::atomic::{AtomicBool, Ordering};
use std::io;
use std::os::fd::OwnedFd;

/// A flag that remembers whether a nudge is owed.
#[derive(Debug)]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    pub(crate) fn new() -> Flag {
        Flag(AtomicBool::new(false))
    }

    /// Sets the flag; true if it was clear, which obliges the caller to ring.
    #[must_use]
    pub(crate) fn raise(&self) -> bool {
        // Release publishes what the nudge is about, also where the flag was set before. Acquire
        // is not needed for that; a swap costs the same with it.
        !self.0.swap(true, Ordering::AcqRel)
    }

    /// Whether the flag is set: a hint.
    fn is_raised(&self) -> bool {
        // Relaxed: whoever acts upon it takes the flag, or looks again later.
        self.0.load(Ordering::Relaxed)
    }

    /// Clears the flag; true if it was set.
    #[must_use]
    pub(crate) fn take(&self) -> bool {
        // Relaxed first look: a load is cheaper than a swap, and whoever raises after it rings.
        // Acquire: pairs with the release of every `raise` since the flag was last clear.
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::AcqRel)
    }
}

/// The eventfd and its flags.
#[derive(Debug)]
pub(crate) struct Wake {
    fd: OwnedFd,
    token: Flag,
    errand: Flag,
}

impl Wake {
    pub(crate) fn new() -> io::Result<Wake> {
        Ok(Wake { fd: eventfd::create()?, token: Flag::new(), errand: Flag::new() })
    }

    /// The descriptor to arm.
    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Makes the owner's present or next park return.
    pub(crate) fn unpark(&self) {
        if self.token.raise() {
            self.ring();
        }
    }

    /// Says that the inbox is not empty.
    pub(crate) fn announce(&self) {
        if self.errand.raise() {
            self.ring();
        }
    }

    fn ring(&self) {
        // Fails only if the counter is full, and then the descriptor is readable anyway.
        let _ = eventfd::ring(&self.fd);
    }

    /// Takes the token.
    pub(crate) fn take_token(&self) -> bool {
        self.token.take()
    }

    /// Whether somebody has [announced](Self::announce) something that was not taken notice of.
    pub(crate) fn has_errand(&self) -> bool {
        self.errand.is_raised()
    }

    /// Takes notice of the inbox: the caller empties it next.
    pub(crate) fn take_errand(&self) -> bool {
        self.errand.take()
    }
}

#[cfg(test)]
#[path = "tests/wake.rs"]
mod tests;
