//! When the monitor sleeps.
//!
//! # Question
//!
//! The monitor must not tick while all workers sleep, and must look again soon after one wakes.
//! How does a worker that wakes tell it, at the cost of one load while it ticks anyway?
//!
//! # States
//!
//! `resting` is set while the monitor waits to be called, and clear otherwise. The token of its
//! parker ends the wait.
//!
//! # Protocol
//!
//! *Monitor*: set `resting`, full fence, look at all sleep words; park only if nobody is awake. *A
//! worker that wakes*: leave the sleep word, full fence, load `resting`; if it is set, clear it by
//! an exchange, and whoever cleared it gives the token.
//!
//! # Race and proof
//!
//! The monitor finds everybody asleep while a worker wakes and finds `resting` clear: impossible
//! for both, since of the two fences one comes first. One exchange a rest succeeds, so one token is
//! given. The model is `model_a_worker_that_wakes_is_watched`; red without either fence.

use raddle_base::clock::Instant;
use raddle_base::parker::Parker;
use raddle_base::shim::atomic::Ordering::{Relaxed, SeqCst};
use raddle_base::shim::atomic::{AtomicBool, fence};

/// The monitor's sleep.
pub(crate) struct Rest {
    resting: AtomicBool,
    parker: Parker,
}

impl Rest {
    raddle_base::const_unless_loom! {
        pub(crate) const fn new() -> Self {
            Rest { resting: AtomicBool::new(false), parker: Parker::new() }
        }
    }

    /// A worker has left its sleep.
    #[inline]
    pub(crate) fn worker_wakes(&self) {
        // SeqCst: between the sleep word and the flag; pairs with the fence in `until_called`. A
        // worker has just come out of a system call.
        fence(SeqCst);
        // Relaxed: ordered by the fence.
        if self.resting.load(Relaxed) {
            self.call();
        }
    }

    /// Ends the monitor's sleep, whatever it waits for.
    #[cold]
    pub(crate) fn call(&self) {
        // Relaxed: the token publishes; the exchange decides who gives it.
        if self.resting.swap(false, Relaxed) {
            self.parker.unpark();
        }
    }

    /// Ends the monitor's sleep, be it a rest or a pause between two looks.
    pub(crate) fn end(&self) {
        self.parker.unpark();
    }

    /// The monitor sleeps until it is called, unless there is a reason not to.
    pub(crate) fn until_called(&self, reason: impl Fn() -> bool) {
        // Relaxed: ordered by the fence.
        self.resting.store(true, Relaxed);
        // SeqCst: between the flag and the sleep words; pairs with the fence in `worker_wakes`.
        fence(SeqCst);
        if !reason() {
            self.parker.park();
        }
        // Relaxed: a late call leaves a token, which makes one look come early.
        self.resting.store(false, Relaxed);
    }

    /// The monitor sleeps until `deadline`.
    pub(crate) fn for_a_while(&self, deadline: Instant) {
        self.parker.park_until(deadline);
    }
}

#[cfg(test)]
#[path = "tests/rest.rs"]
mod tests;
