//! How the next stand-in comes to be: one at a time, and again later where it could not be had.
//!
//! A stand-in counts once its thread has made its driver, and not before: nobody may rely on one
//! that never comes. Until then it is on its way, and others that are wanted wait for it, because
//! ranks have no gap. Threads and descriptors may be exhausted for a while; so a failure is
//! followed by another attempt, after 2 ms, then 4, and so on up to 128.

use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::shim::mutex::Mutex;

/// The pause after the first failure.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
/// How many times it doubles.
const DOUBLINGS: u32 = 6;

/// Whether a stand-in is on its way, or when to try again.
pub(crate) struct Arrivals(Mutex<State>);

struct State {
    coming: bool,
    failures: u32,
    again: Instant,
}

impl Arrivals {
    pub(crate) fn new() -> Arrivals {
        Arrivals(Mutex::new(State { coming: false, failures: 0, again: Instant::from_nanos(0) }))
    }

    /// Takes it upon the caller to start one; false if one is on its way, or failed just now.
    pub(crate) fn begin(&self, now: Instant) -> bool {
        let mut state = self.0.lock();
        let may = !state.coming && now >= state.again;
        state.coming |= may;
        may
    }

    /// Nothing was started after all.
    pub(crate) fn give_up(&self) {
        self.0.lock().coming = false;
    }

    /// It is there, and counted.
    pub(crate) fn arrived(&self) {
        *self.0.lock() = State { coming: false, failures: 0, again: Instant::from_nanos(0) };
    }

    /// It could not be had.
    pub(crate) fn failed(&self, now: Instant) {
        let mut state = self.0.lock();
        state.again = now + FIRST_PAUSE * (1 << state.failures);
        state.failures = (state.failures + 1).min(DOUBLINGS);
        state.coming = false;
    }

    /// Whether one is on its way.
    pub(crate) fn is_coming(&self) -> bool {
        self.0.lock().coming
    }
}
