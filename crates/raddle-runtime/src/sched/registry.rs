//! All runtimes of this process, reachable from one static: a debugger that finds [`RUNTIMES`]
//! finds every live task by way of each runtime's list of them, without running any code.
//!
//! Making and ending a runtime are rare, so a lock around a vector does. It is std's, since
//! nothing here is modelled.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::sched::shared::Shared;

/// The root.
static RUNTIMES: Mutex<Runtimes> =
    Mutex::new(Runtimes { alive: Vec::new(), kept: Vec::new(), guards: Vec::new() });

struct Runtimes {
    /// Those that somebody has.
    alive: Vec<Weak<Shared>>,
    /// Those that ended with tasks left behind, whose memory stays for ever.
    kept: Vec<Arc<Shared>>,
    /// What guards held that were dropped out of order.
    guards: Vec<Kept>,
}

/// The address of something that is never used again, so that a search for leaks finds it.
struct Kept(#[expect(dead_code, reason = "only its being here counts")] *const ());

// SAFETY: nobody does anything with the address.
unsafe impl Send for Kept {}

fn runtimes() -> MutexGuard<'static, Runtimes> {
    // Poison: a vector is whole after any panic that may happen here.
    RUNTIMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Enters a new runtime, and forgets those that are gone.
pub(crate) fn enter(shared: &Arc<Shared>) {
    let mut runtimes = runtimes();
    runtimes.alive.retain(|runtime| runtime.strong_count() != 0);
    runtimes.alive.push(Arc::downgrade(shared));
}

/// Keeps a runtime for ever: unfinished tasks were left behind.
pub(crate) fn keep_for_ever(shared: &Arc<Shared>) {
    runtimes().kept.push(Arc::clone(shared));
}

/// Keeps what a guard held that was dropped out of order, for ever and within reach.
pub(crate) fn keep_guard<T>(parts: T) {
    runtimes().guards.push(Kept(Box::into_raw(Box::new(parts)).cast()));
}

/// All runtimes that exist.
#[cfg(test)]
pub(crate) fn all() -> Vec<Arc<Shared>> {
    runtimes().alive.iter().filter_map(Weak::upgrade).collect()
}

#[cfg(all(test, not(loom)))]
#[path = "tests/registry.rs"]
mod tests;
