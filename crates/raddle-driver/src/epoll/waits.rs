//! Whether anybody waits for an event of this loop.
//!
//! # Question
//!
//! A busy owner has to ask epoll from time to time, which takes a reading of the clock and a
//! system call: too much where nobody waits for I/O. How does it learn, by the loads it makes
//! before each dispatch anyway, that somebody does?
//!
//! # States
//!
//! Each registration has the directions in which somebody waits, under the driver lock. `armed`
//! counts the registrations that are waited for, and the listeners that pause.
//!
//! | | owner's mark | means |
//! |---|---|---|
//! | `armed` is 0 | set or clear | nobody waits; the next look clears the mark |
//! | `armed` is not 0 | set | the owner looks by time |
//! | `armed` is not 0 | clear, and the bell rings | another thread has begun to wait |
//!
//! # Protocol
//!
//! A waiter leaves its waker, finds no readiness, and then arms. An event strikes the directions
//! it ends. A future that is dropped strikes them if nobody else waits. Arming on the owner's
//! thread sets the mark; elsewhere the first one moves `changes`, which is what the owner's
//! doorbell compares. The owner notices: it first reads `changes`, then sets the mark by `armed`.
//!
//! # Race
//!
//! The owner finds `armed` at 0 and clears the mark while another thread arms. The thread moves
//! `changes` after that, so the bell rings.
//!
//! # Proof
//!
//! `armed` changes under the driver lock only. An owner that has read the moved `changes` sees the
//! `armed` that led to it; one that has not finds the doorbell ringing. A mark that stays too long
//! (a poll function's waker that nobody waits behind any more) costs looks and nothing else, and
//! a parking owner asks epoll in any case.

use crate::interest::Waited;
use crate::owner::OwnerCell;
use raddle_base::doorbell::Doorbell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The count, and the owner's view of it.
pub(super) struct Waits {
    armed: AtomicU32,
    /// How many times another thread was the first to arm. Behind an address that stays.
    changes: Arc<AtomicU32>,
    bell: OwnerCell<Doorbell>,
}

impl Waits {
    /// To be called on the owner's thread.
    pub(super) fn new() -> Waits {
        let changes = Arc::new(AtomicU32::new(0));
        // SAFETY: the doorbell lives as long as `changes`, in the same structure, which hands out
        // borrows of it only. No flag is in the mask, so the same word may stand for the flags.
        let bell = unsafe { Doorbell::new(&raw const *changes, &raw const *changes, 0) };
        Waits { armed: AtomicU32::new(0), changes, bell: OwnerCell::new(bell) }
    }

    /// The owner's doorbell, on its thread.
    pub(super) fn doorbell(&self) -> Option<&Doorbell> {
        self.bell.get()
    }

    fn count(&self) -> u32 {
        // Relaxed: under the lock, or a look that `changes` will correct.
        self.armed.load(Ordering::Relaxed)
    }

    /// Whether anybody waits for anything.
    pub(super) fn is_any(&self) -> bool {
        self.count() != 0
    }

    /// One more is waited for. Under the driver lock.
    pub(super) fn begin(&self) {
        let before = self.count();
        // Relaxed: `changes` publishes it, or the owner itself is here.
        self.armed.store(before + 1, Ordering::Relaxed);
        match self.bell.get() {
            Some(bell) => bell.set_polled(true),
            None if before == 0 => {
                // Release: who sees it sees the count.
                self.changes.fetch_add(1, Ordering::Release);
            }
            None => {}
        }
    }

    /// One less. Under the driver lock.
    pub(super) fn end(&self) {
        let left = self.count().saturating_sub(1);
        // Relaxed: as above.
        self.armed.store(left, Ordering::Relaxed);
        if left == 0
            && let Some(bell) = self.bell.get()
        {
            bell.set_polled(false);
        }
    }

    /// Nobody waits in the directions of `ended` any more. Under the driver lock.
    #[inline]
    pub(super) fn strike(&self, waited: &mut Waited, ended: Waited) {
        let before = std::mem::replace(waited, *waited & !ended);
        if before != 0 && *waited == 0 {
            self.end();
        }
    }

    /// Everything registered is let go. Under the driver lock.
    pub(super) fn end_all(&self) {
        // Relaxed: as above.
        self.armed.store(0, Ordering::Relaxed);
    }

    /// The owner brings its mark up to date; other threads do nothing.
    pub(super) fn notice(&self) {
        let Some(bell) = self.bell.get() else { return };
        // Acquire: pairs with the release of `begin`. Before the count: see the proof.
        bell.set_seen(self.changes.load(Ordering::Acquire));
        bell.set_polled(self.count() != 0);
    }
}
