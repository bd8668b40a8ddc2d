//! One thread that sleeps until somebody hands it a token.
//!
//! # Question
//!
//! How does a thread that found nothing to do go to sleep so that a wake-up given at any moment,
//! before, during or after its decision, is never lost, at the cost of one word and no lock?
//!
//! # States
//!
//! | word | name | meaning |
//! |---|---|---|
//! | 0 | EMPTY | no token; the owner is awake |
//! | 1 | NOTIFIED | a token waits to be taken |
//! | `u32::MAX` | PARKED | no token; the owner sleeps or is about to |
//!
//! # Protocol
//!
//! The owner takes one from the word: 1 becomes EMPTY and it returns at once; 0 becomes PARKED
//! and it sleeps while the word is PARKED. Whoever unparks swaps in NOTIFIED, and wakes the
//! sleeper if the old word was PARKED. The owner leaves only through NOTIFIED → EMPTY, or, when
//! its deadline passed, through a swap to EMPTY that also tells whether a token came last minute.
//!
//! # Race
//!
//! The owner has seen EMPTY and is about to sleep; another thread unparks in between. The futex
//! sleeps only if the word still is PARKED, decided by the kernel against the wake. If the swap
//! came first, the wait returns at once; if the sleep came first, the swap returned PARKED and a
//! wake follows.
//!
//! # Proof of publication
//!
//! What was written before `unpark` is visible after the `park` that took its token: the swap
//! releases, and every way in which the owner takes the token acquires. An unpark that finds
//! NOTIFIED publishes too, because it is a swap (a read-modify-write continues the release
//! sequence, and the owner's acquire reads from it or from a later one). Checked by the models in
//! the tests: `model_park_sees_what_unpark_published`, `model_token_is_never_lost`.

mod waker;

pub use waker::waker;

use crate::clock::Instant;
use crate::shim::Arc;
use crate::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::shim::futex::Futex;

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
const PARKED: u32 = u32::MAX;

/// A token for one thread: [`unpark`](Self::unpark) gives it, [`park`](Self::park) waits for it.
///
/// Any thread may give the token; at most one thread at a time may wait for it. Tokens do not add
/// up: two given before one is taken are one.
#[derive(Debug)]
pub struct Parker {
    state: Futex,
}

impl Parker {
    crate::const_unless_loom! {
        /// A parker without a token.
        pub const fn new() -> Self {
            Parker { state: Futex::new(EMPTY) }
        }
    }

    /// Waits for the token and takes it. What happened before its `unpark` is visible after.
    pub fn park(&self) {
        if self.begin() {
            return;
        }
        loop {
            self.state.wait(PARKED, None);
            if self.take() {
                return;
            }
        }
    }

    /// As [`park`](Self::park), but gives up at `deadline`; true if the token was taken.
    pub fn park_until(&self, deadline: Instant) -> bool {
        if self.begin() {
            return true;
        }
        loop {
            self.state.wait(PARKED, Some(deadline));
            if self.take() {
                return true;
            }
            // A clock read per wake-up of a sleeping thread: the price of spurious returns.
            if Instant::now() >= deadline {
                // Acquire: a token that came last minute publishes like any other.
                return self.state.word().swap(EMPTY, Acquire) == NOTIFIED;
            }
        }
    }

    /// Takes the token if it is there, without waiting.
    pub fn try_park(&self) -> bool {
        self.take()
    }

    /// Gives the token, and wakes the thread that waits for it.
    pub fn unpark(&self) {
        // Release: publishes what the caller did to whoever takes the token.
        if self.state.word().swap(NOTIFIED, Release) == PARKED {
            self.state.wake();
        }
    }

    /// EMPTY → PARKED, or NOTIFIED → EMPTY and true.
    #[inline]
    fn begin(&self) -> bool {
        // Acquire: pairs with the release in `unpark` when this takes the token.
        self.state.word().fetch_sub(1, Acquire) == NOTIFIED
    }

    /// NOTIFIED → EMPTY and true; any other state stays.
    #[inline]
    fn take(&self) -> bool {
        // Acquire on success as in `begin`; a failure reads nothing that was published.
        self.state.word().compare_exchange(NOTIFIED, EMPTY, Acquire, Relaxed).is_ok()
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs `f` with this thread's cached parker, or with a fresh one if the cached one is in use
/// further up the stack.
///
/// The parker has no token when `f` begins; tokens that come after `f` ended wake nobody but the
/// next user, who must be ready for a spurious one. The first call on a thread allocates, later
/// ones do not.
pub fn with_current<R>(f: impl FnOnce(&Arc<Parker>) -> R) -> R {
    use std::cell::Cell;
    crate::local! {
        static CACHED: Cell<Option<Arc<Parker>>> = const { Cell::new(None) };
    }
    // A thread that is being torn down has no cache any more, and gets a fresh one.
    let cached = CACHED.try_with(Cell::take).ok().flatten();
    let parker = cached.unwrap_or_else(|| Arc::new(Parker::new()));
    parker.try_park();
    let result = f(&parker);
    let _ = CACHED.try_with(|cell| cell.set(Some(parker)));
    result
}

#[cfg(test)]
#[path = "tests/parker.rs"]
mod tests;
