//! A cell for the waker of one waiter, without a lock.
//!
//! # Question
//!
//! A task looks at a condition, finds it false, and leaves its waker so that whoever makes the
//! condition true can call it. How does the waker change hands without a lock, such that a wake
//! given at any moment is never lost, and such that the code inside a waker (its clone, its wake,
//! its drop) can do anything, this cell included?
//!
//! # States
//!
//! | state | the waker belongs to | meaning |
//! |---|---|---|
//! | EMPTY | nobody, there is none | nobody waits |
//! | FULL | the cell | somebody waits |
//! | REGISTERING | the registering side | it compares, clones, stores |
//! | WOKEN | the registering side | as above, and a wake came meanwhile |
//! | TAKING | the side that wakes | it moves the waker out |
//!
//! # Protocol
//!
//! `register`: EMPTY or FULL → REGISTERING; keep or replace the waker; REGISTERING → FULL. If
//! that finds WOKEN instead, the waker comes out again, → EMPTY, and is called on the spot. If
//! it finds another side at work at the start, it calls the new waker: that task polls again.
//!
//! `take`: FULL → TAKING, move the waker out, → EMPTY. REGISTERING → WOKEN. In every other state
//! it writes the state back as it was.
//!
//! # Race
//!
//! The waiter looks at its condition (false), the other side makes it true and wakes (nobody
//! there), the waiter registers and sleeps for ever. Therefore waiters *publish, then look
//! again*: `register` first, then the condition once more.
//!
//! # Proof
//!
//! Every change of the state is a read-modify-write, so a write with release is seen by every
//! later one with acquire (release sequences run through). `take` always writes with release,
//! even where it leaves the state as it was; `register` acquires. Of the two, one is first. If
//! `register` is first, `take` finds FULL or REGISTERING, and the waker is called. If `take` is
//! first, what happened before it is visible after `register`, and the second look finds the
//! condition true. Access to the waker alternates between owners through the same operations, so
//! it needs no other protection. Models: `model_cell_register_against_wake`,
//! `model_cell_two_wakers`, `model_cell_replaced_waker`.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::task::Waker;

use crate::shim::atomic::AtomicU8;
use crate::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::shim::cell::UnsafeCell;

const EMPTY: u8 = 0;
const FULL: u8 = 1;
const REGISTERING: u8 = 2;
const WOKEN: u8 = 3;
const TAKING: u8 = 4;

/// The waker of at most one waiter.
///
/// One side registers, any number of sides wake; all methods take `&self`. Should two sides
/// register at once, nothing breaks: one of them is woken at once and polls again.
///
/// Ordering: what happened before a [`wake`](Self::wake) or [`take`](Self::take) is visible after
/// every later [`register`](Self::register), whether a waker was found or not. Nothing here
/// allocates or blocks.
pub struct WaiterCell {
    state: AtomicU8,
    /// Accessed by the side that moved the state to REGISTERING or TAKING, until it leaves it.
    waker: UnsafeCell<Option<Waker>>,
}

// SAFETY: the waker is accessed only by the side that owns it according to `state` (see the table
// above), and `Waker` itself is `Send` and `Sync`.
unsafe impl Sync for WaiterCell {}

impl UnwindSafe for WaiterCell {}
impl RefUnwindSafe for WaiterCell {}

impl WaiterCell {
    crate::const_unless_loom! {
        /// A cell in which nobody waits.
        pub const fn new() -> Self {
            WaiterCell { state: AtomicU8::new(EMPTY), waker: UnsafeCell::new(None) }
        }
    }

    /// Leaves `waker` to be called by the next [`wake`](Self::wake), in place of an earlier one.
    ///
    /// The waker is cloned only if it differs from the one already there. Look at the condition
    /// again after this returns, and only then report `Pending`.
    pub fn register(&self, waker: &Waker) {
        // Relaxed: only a first guess for the exchange below.
        let mut seen = self.state.load(Relaxed);
        while seen == EMPTY || seen == FULL {
            // Acquire: what happened before earlier wakes is visible when the caller looks again,
            // and the waker left by an earlier owner of the cell can be read.
            match self.state.compare_exchange_weak(seen, REGISTERING, Acquire, Relaxed) {
                Ok(_) => return self.store(waker),
                Err(now) => seen = now,
            }
        }
        // Somebody is at work on the waker right now. The task polls again, and registers then.
        waker.wake_by_ref();
    }

    /// The state is REGISTERING and this thread owns the waker.
    fn store(&self, waker: &Waker) {
        let publish = Publish(self);
        // SAFETY: this thread owns the waker until it publishes; `will_wake` compares pointers.
        let same = self.waker.with(|old| unsafe { (*old).as_ref() }.map(|w| w.will_wake(waker)));
        if same == Some(true) {
            return;
        }
        // Foreign code: it may call this cell, which then finds REGISTERING and keeps away from
        // the waker, and it may panic, whereupon `publish` puts the old waker back into force.
        let new = waker.clone();
        // SAFETY: as above.
        let old = self.waker.with_mut(|slot| unsafe { (*slot).replace(new) });
        drop(publish);
        // Foreign code again, after the cell was given back.
        drop(old);
    }

    /// REGISTERING → FULL or EMPTY. Returns the waker if a wake came meanwhile.
    fn publish(&self) -> Option<Waker> {
        // SAFETY: this thread owns the waker until the exchange below.
        let next = if self.waker.with(|w| unsafe { (*w).is_some() }) { FULL } else { EMPTY };
        // Release: whoever takes the waker sees it whole. Acquire on failure: what the wake
        // announces is visible when the caller looks again.
        if self.state.compare_exchange(REGISTERING, next, Release, Acquire).is_ok() {
            return None;
        }
        // SAFETY: the state is WOKEN, and still the registering side owns the waker.
        let waker = self.waker.with_mut(|slot| unsafe { (*slot).take() });
        // Release: the next owner sees the slot empty.
        self.state.swap(EMPTY, Release);
        waker
    }

    /// Calls the waker that was left here, if there is one, and removes it.
    #[inline]
    pub fn wake(&self) {
        if let Some(waker) = self.take() {
            waker.wake();
        }
    }

    /// Whether nobody has left a waker here, or is leaving one.
    ///
    /// Ordering: what happened before a [`register`](Self::register) that this finds is visible.
    pub fn is_empty(&self) -> bool {
        // Acquire: pairs with the release that gives the cell back after a registration.
        matches!(self.state.load(Acquire), EMPTY | TAKING)
    }

    /// Removes the waker and returns it, for a caller that wants to call it later or never.
    ///
    /// `None` does not mean that nobody is woken: a `register` in progress wakes itself.
    pub fn take(&self) -> Option<Waker> {
        // Relaxed: only a first guess for the exchange below.
        let mut seen = self.state.load(Relaxed);
        loop {
            let next = match seen {
                FULL => TAKING,
                REGISTERING | WOKEN => WOKEN,
                other => other,
            };
            // Release, also where the state stays as it is: publishes the caller's condition to
            // the next `register`. Acquire on top to read the waker, which matters for FULL only.
            let order = crate::shim::atomic::Ordering::AcqRel;
            match self.state.compare_exchange_weak(seen, next, order, Relaxed) {
                Ok(FULL) => break,
                Ok(_) => return None,
                Err(now) => seen = now,
            }
        }
        // SAFETY: the state is TAKING through us, so the waker is ours.
        let waker = self.waker.with_mut(|slot| unsafe { (*slot).take() });
        // Release: the next owner sees the slot empty. A swap and not a store, to carry on the
        // release sequence of other sides that called `take` meanwhile.
        self.state.swap(EMPTY, Release);
        waker
    }
}

/// Gives the cell back when dropped, also if the clone of a waker panics.
struct Publish<'a>(&'a WaiterCell);

impl Drop for Publish<'_> {
    fn drop(&mut self) {
        if let Some(waker) = self.0.publish() {
            waker.wake();
        }
    }
}

impl Default for WaiterCell {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for WaiterCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Relaxed: a glimpse, nothing is read on its strength.
        let state = match self.state.load(Relaxed) {
            EMPTY => "empty",
            FULL => "waiting",
            TAKING => "waking",
            _ => "registering",
        };
        f.debug_tuple("WaiterCell").field(&state).finish()
    }
}
