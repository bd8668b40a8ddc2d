//! Serving a whole line at once: it is taken away in one step, and granted in batches.
//!
//! The ring that holds the line meanwhile is built around a sentinel on the stack of whoever
//! releases; the header of `wait/queue.rs` says why that is sound against waiters that give up.

use std::ptr;

use super::Locked;
use crate::wait::batch::WakeBatch;
use crate::wait::links::{self, Links};

impl<P, S, const LINES: usize> Locked<'_, P, S, LINES> {
    /// Grants `outcome` to everybody who waits in the first line now, wakes them, and returns with
    /// the lock released. Constant time under the lock for the decision, then batches.
    ///
    /// Who is pushed after this call began (from inside a waker, too) is not released by it. If a
    /// waker panics, the others are still called, then the panic goes on.
    pub fn release_all(mut self, outcome: u8) {
        if self.is_empty() {
            return;
        }
        let queue = self.queue;
        let sentinel = Links::new();
        // A shared reference, and the local is not touched by name again: it stays put and shared
        // until the ring around it is empty.
        let ring = ptr::from_ref(&sentinel);
        let mut batch = WakeBatch::new();
        // SAFETY: the lock is held; the sentinel lives in this frame, which ends with an empty
        // ring: the loop below has no other exit, and `wake_all` does not unwind.
        unsafe { self.inner.lines.take(0, ring) };
        loop {
            // SAFETY: the lock is held, and the sentinel is that of the ring above.
            let done = unsafe { self.grant_ring(ring, usize::MAX, outcome, &mut batch) };
            drop(self);
            if done {
                return batch.finish();
            }
            batch.wake_all();
            self = queue.lock();
        }
    }

    /// As [`release_all`](Self::release_all) for a line, with `admit` called under the lock before
    /// each batch: how many are granted in it, and whether more will follow. It may add one wake
    /// to the batch, and must not panic.
    pub fn release_line(
        mut self,
        line: usize,
        outcome: u8,
        mut admit: impl FnMut(&mut Self, &mut WakeBatch, usize, bool),
    ) {
        let queue = self.queue;
        let sentinel = Links::new();
        // As in `release_all`.
        let ring = ptr::from_ref(&sentinel);
        let mut batch = WakeBatch::new();
        // SAFETY: as in `release_all`; `admit` does not unwind.
        unsafe { self.inner.lines.take(line, ring) };
        loop {
            let room = WakeBatch::CAPACITY - 1;
            // SAFETY: the lock is held, and the sentinel is that of the ring above.
            let count = unsafe { links::count_ring(ring, room + 1) };
            admit(&mut self, &mut batch, count.min(room), count > room);
            // SAFETY: as above.
            let done = unsafe {
                self.grant_ring(ring, count.min(room), outcome, &mut batch);
                // Looked at and not concluded from `count`: this frame, and the sentinel with it,
                // must not end before the ring does.
                links::first_of_ring(ring).is_none()
            };
            drop(self);
            if done {
                return batch.finish();
            }
            batch.wake_all();
            self = queue.lock();
        }
    }

    /// Grants to at most `limit` nodes of the ring, until it is empty (true) or the batch is full.
    ///
    /// # Safety
    ///
    /// `ring` is the sentinel of a ring that was taken off this queue.
    unsafe fn grant_ring(
        &mut self,
        ring: *const Links,
        limit: usize,
        outcome: u8,
        batch: &mut WakeBatch,
    ) -> bool {
        for _ in 0..limit {
            // SAFETY: passed on from the caller; the lock is held.
            let Some(node) = (unsafe { links::first_of_ring(ring) }) else { return true };
            if batch.is_full() {
                return false;
            }
            // SAFETY: the node is linked in the ring.
            batch.push(unsafe { self.grant(node, outcome) });
        }
        false
    }
}
