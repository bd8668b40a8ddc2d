//! What the ends of a channel share.
//!
//! # Question
//!
//! Many senders and one receiver pass values through one list of slots. A send is to cost one
//! read-modify-write and a receive none (without a bound) or one. How does the receiver sleep and
//! wake without a gap, and how does it know that nothing more will come, while senders come and
//! go, hold places they reserved, or wait for room?
//!
//! # States
//!
//! `word.rs` has the word: free places, tail, CLOSED, GONE, ASLEEP. A position is *free* (not
//! below the tail), *claimed* (below it, its slot not ready), *ready*, or *received* (below the
//! receiver's head). A place is free, with a waiter, held by a sender, *or held by a value* until
//! that is received.
//!
//! | head | word | the receiver finds |
//! |---|---|---|
//! | ready | any | a value |
//! | claimed | any | a send under way, which ends by itself: no foreign code runs in between |
//! | free | no sender is left, or CLOSED with all places free | the end |
//! | free | else | nothing: it may sleep |
//!
//! # Protocol
//!
//! *Send*: claim a position, with a place in the same exchange, or with one held before; write the
//! value; make the slot ready; if the claim saw ASLEEP, wake. *Receive*: read the slot at the head
//! if it is ready; give its place back. *Sleep*: leave the waker; look again; exchange the word
//! that was looked at for the same with ASLEEP. *Close*: set CLOSED; without a bound the tail at
//! that moment is the end, and claims that see CLOSED give their value back. *Drop*: set GONE,
//! which refuses claims as CLOSED does without a bound; close; receive and drop the rest.
//!
//! # Race
//!
//! *Sleep against send*: one word holds tail and ASLEEP. ASLEEP is set while the head is free, and
//! taken back by the receiver only, after it has received; so the claim of the head, and every
//! later one, has seen it, and wakes *after* it made its slot ready. *A claim just before*: the
//! head is claimed and its sender has not seen ASLEEP. The receiver spins for a moment, lets other
//! threads run, then asks for another poll: a sender between claim and ready needs a handful of
//! instructions. *The last sender, a place that comes back*: they change what the receiver looks
//! at, then take its waker; it leaves the waker, then looks. *Close against a reserved place*: a
//! value holds its place, so "all places free" means that nothing is under way.
//!
//! # Proof
//!
//! A value is in one place at any time: with the sender, in its slot, or returned. The slot belongs
//! to the sender from claim to ready, and to the receiver from there; GONE and CLOSED are set in
//! the word that is claimed from, so a claim is before them, and its value received or dropped by
//! the receiver, or behind them, and its value given back. Models:
//! `model_mpsc_send_against_close`, `model_mpsc_send_against_drop`,
//! `model_mpsc_last_sender_against_recv`, `model_mpsc_end_publishes`,
//! `model_mpsc_reserved_place_against_close`, `model_mpsc_room_against_wait`,
//! `model_mpsc_upgrade_against_last_sender`, `model_mpsc_two_senders_against_sleep`.

use std::panic::{RefUnwindSafe, UnwindSafe};

use raddle_base::shim::Arc;
use raddle_base::shim::cell::UnsafeCell;
use raddle_base::wait::WaiterCell;

use super::block::Block;
use super::blocks::Blocks;
use super::kind::{Bounded, Kind, Unbounded};
use super::word::Word;
use crate::closing::{Closed, Closing, OnDrop};
use crate::ends::{Count, Counted, Senders};
use crate::permits::{Denied, Permits};

pub(crate) struct Chan<T, K> {
    pub(super) word: Word<K>,
    pub(super) capacity: usize,
    pub(super) blocks: Blocks<T>,
    /// The sleeping receiver.
    pub(super) receiver: WaiterCell,
    /// The first block not yet reused: set by the receiver when it goes.
    oldest: UnsafeCell<*mut Block<T>>,
    /// The same as CLOSED or GONE, set after them, and who waits for it.
    closing: Closing,
    pub(super) senders: Count,
}

// SAFETY: values cross threads by it, and by it alone: slots and `oldest` are accessed by the
// rules of `block.rs` and by the receiver.
unsafe impl<T: Send, K> Send for Chan<T, K> {}
// SAFETY: as above; no two threads get at the same value.
unsafe impl<T: Send, K> Sync for Chan<T, K> {}

// A value is moved in and out as a whole, with no foreign code in between.
impl<T, K> UnwindSafe for Chan<T, K> {}
impl<T, K> RefUnwindSafe for Chan<T, K> {}

impl<T, K: Kind> Chan<T, K> {
    /// A channel with one sender, whose first position is `first`, the start of a block.
    pub(super) fn new(capacity: usize, first: usize) -> Arc<Self> {
        let blocks = Blocks::new(first);
        Arc::new(Chan {
            word: Word::new(if K::PLACES == 0 { 0 } else { capacity }, first),
            capacity,
            receiver: WaiterCell::new(),
            oldest: UnsafeCell::new(blocks.first()),
            blocks,
            closing: Closing::new(),
            senders: Count::new(),
        })
    }

    pub(super) fn permits(&self) -> &Permits<K> {
        &self.word.permits
    }

    /// Sends a value to the position that was claimed when the word was `seen`.
    #[inline(always)]
    fn put(&self, seen: usize, value: T) {
        // SAFETY: the caller claimed the position.
        unsafe { self.blocks.write(Word::<K>::tail(seen), value, &self.word) };
        if Word::<K>::is_asleep(seen) {
            self.wake_receiver();
        }
    }

    #[cold]
    fn wake_receiver(&self) {
        self.receiver.wake();
    }

    /// The receiver closes; returns the tail at that time.
    pub(super) fn close(&self) -> usize {
        let closed = OnDrop(|| {
            self.closing.mark();
            self.closing.notify();
        });
        // If a waker of this group panics, the other group is told all the same.
        let tail = self.word.close();
        drop(closed);
        tail
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closing.is_set()
    }

    #[track_caller]
    pub(super) fn closed(&self) -> Closed<'_> {
        self.closing.wait()
    }

    /// The receiver goes, and leaves its blocks.
    pub(super) fn leave_blocks(&self, oldest: *mut Block<T>) {
        // SAFETY: the receiver alone accesses this until all ends are gone.
        self.oldest.with_mut(|p| unsafe { *p = oldest });
    }
}

impl<T> Chan<T, Unbounded> {
    /// Sends a value, or gives it back if it would not be received.
    #[inline]
    pub(super) fn send(&self, value: T) -> Result<(), T> {
        let seen = self.word.claim();
        if Permits::<Unbounded>::closed(seen) || Word::<Unbounded>::is_gone(seen) {
            return Err(value);
        }
        self.put(seen, value);
        Ok(())
    }
}

impl<T> Chan<T, Bounded> {
    /// Sends a value if there is room and nobody waits for it.
    #[inline]
    pub(super) fn try_send(&self, value: T) -> Result<(), (Denied, T)> {
        match self.word.claim_place() {
            Ok(seen) => self.put_or_return(seen, value).map_err(|value| (Denied::Closed, value)),
            Err(denied) => Err((denied, value)),
        }
    }

    /// Sends a value whose place the caller holds, or gives back the value, and the place to the
    /// channel, if the receiver is gone.
    #[inline]
    pub(super) fn send_held(&self, value: T) -> Result<(), T> {
        self.put_or_return(self.word.claim(), value)
    }

    #[inline(always)]
    fn put_or_return(&self, seen: usize, value: T) -> Result<(), T> {
        if Word::<Bounded>::is_gone(seen) {
            self.place_returned();
            return Err(value);
        }
        self.put(seen, value);
        Ok(())
    }

    /// A place that was claimed for nobody.
    #[cold]
    fn place_returned(&self) {
        self.permits().give_back(1);
        self.places_returned();
    }

    /// Places came back: a receiver that waits for the last of them after closing must look.
    pub(super) fn places_returned(&self) {
        if self.permits().is_closed() {
            self.receiver.wake();
        }
    }
}

impl<T, K> Counted<Senders> for Chan<T, K> {
    fn count(&self) -> &Count {
        &self.senders
    }

    fn last_left(&self) {
        self.receiver.wake();
    }
}

impl<T, K> Drop for Chan<T, K> {
    fn drop(&mut self) {
        let oldest = *self.oldest.get_mut();
        // SAFETY: all ends are gone, and the receiver has taken out all values as it went.
        unsafe { self.blocks.free(oldest) };
    }
}
