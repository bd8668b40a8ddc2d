//! Many threads hand things to one: a push is one exchange, all is taken at once, in order.
//!
//! # Question
//!
//! How do other threads give tasks to a worker so that a push never waits, the worker learns with
//! one load that nothing came, and order is kept?
//!
//! # States
//!
//! One word, `newest`: null, or the thing pushed last, whose link names the one pushed before it,
//! down to one that names nothing.
//!
//! | `newest` | chain | meaning |
//! |---|---|---|
//! | null | – | empty; the next push finds "was empty" and its pusher may have to wake the taker |
//! | n | n → … → first → none | pushed and not yet taken, newest first |
//!
//! # Protocol
//!
//! *Push* writes the link of its own thing, then exchanges `newest` for it. *Take* swaps null in,
//! owns the whole chain from then on, and turns it round, so that the first pushed comes out
//! first. Any thread may take; each thing goes to exactly one of them.
//!
//! # Race
//!
//! A push that has read `newest` and then loses its exchange, to another push or to a take, writes
//! its link anew and tries again. There is no ABA trouble: the link is rewritten to whatever the
//! exchange compares with, and if the same address was taken and pushed again meanwhile, it is
//! again the newest and the link is right.
//!
//! # Proof
//!
//! A thing is seen by the taker only through `newest`, so by a value that some push's exchange
//! (release) wrote. The swap (acquire) reads the last of them and synchronises with all: every
//! exchange since the last swap is a read-modify-write of the one before, so it continues that
//! one's release sequence. Hence links and contents are whole. Order: the chain is the order of
//! the exchanges, and turning it round restores it. Models: `model_push_against_take_all`,
//! `model_two_pushers`.

#[cfg(test)]
mod tests;

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use crate::const_unless_loom;
use crate::fifo::Fifo;
use crate::pointer::QueueLink;
use crate::shim::atomic::{AtomicPtr, Ordering};

/// A queue with many pushing threads and one that takes all. See the [module](self).
///
/// Nothing here allocates, blocks or calls the kernel. The word is not padded: put the inbox into
/// a [`CachePadded`](crate::padded::CachePadded) when its neighbours are busy.
pub struct Inbox<T: QueueLink> {
    newest: AtomicPtr<()>,
    /// Invariant, as a cell is: a shared inbox takes things in as well as it gives them out.
    owns: PhantomData<Cell<T>>,
}

// SAFETY: the inbox owns what stands in it, so it may go where the things may go.
unsafe impl<T: QueueLink + Send> Send for Inbox<T> {}
// SAFETY: a shared inbox moves things between threads (`T: Send`) and lends none.
unsafe impl<T: QueueLink + Send> Sync for Inbox<T> {}

impl<T: QueueLink> Inbox<T> {
    const_unless_loom! {
        /// An empty inbox.
        #[must_use]
        pub const fn new() -> Self {
            Self { newest: AtomicPtr::new(ptr::null_mut()), owns: PhantomData }
        }
    }

    /// Adds `item`; true when the inbox was empty before, so that exactly one pusher of a burst
    /// needs to wake the taker.
    #[inline]
    pub fn push(&self, item: T) -> bool {
        let raw = item.into_raw();
        // SAFETY: `raw` was just made of an owned item; the link is alive until it is taken.
        let link = unsafe { T::link(raw) };
        // Relaxed: the value is only compared and stored, nothing behind it is read.
        let mut newest = self.newest.load(Ordering::Relaxed);
        loop {
            // SAFETY: the item is not published yet, so its link is ours alone.
            unsafe { link.as_ref().set_next(NonNull::new(newest)) };
            // Release: the taker that finds `raw` must find its link and its content. On failure
            // relaxed, for the reason above.
            let (done, failed) = (Ordering::Release, Ordering::Relaxed);
            match self.newest.compare_exchange_weak(newest, raw.as_ptr(), done, failed) {
                Ok(before) => return before.is_null(),
                Err(seen) => newest = seen,
            }
        }
    }

    /// Takes everything that has arrived, in the order of arrival.
    ///
    /// O(length), for turning the chain round; a look that finds nothing is one load.
    #[inline]
    pub fn take_all(&self) -> Fifo<T> {
        if self.is_empty() {
            return Fifo::new();
        }
        // Acquire: pairs with every push since the last take, so that links and contents are
        // whole. What a pusher will see afterwards is null, which carries nothing: no release.
        let newest = self.newest.swap(ptr::null_mut(), Ordering::Acquire);
        match NonNull::new(newest) {
            None => Fifo::new(),
            // SAFETY: the swap took the whole chain out of the word, so it is ours; each thing in
            // it was made by `into_raw` in `push`, and the first pushed names nothing.
            Some(newest) => unsafe { Fifo::from_newest(newest) },
        }
    }

    /// True when nothing had arrived.
    ///
    /// One relaxed load: the answer is a hint and nothing is read through it; what follows on
    /// "not empty" is `take_all`, which acquires. A taker that is about to sleep needs more than
    /// a load: the fence of its sleep protocol orders this load after its announcement.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.newest().is_null()
    }

    /// The address of what was pushed last; null if there is nothing. For those who look at
    /// several inboxes at once.
    #[inline]
    pub fn newest(&self) -> *const () {
        // Relaxed: a hint, as in `is_empty`; nothing is read through the address.
        self.newest.load(Ordering::Relaxed).cast_const().cast()
    }
}

impl<T: QueueLink> Default for Inbox<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: QueueLink> Drop for Inbox<T> {
    fn drop(&mut self) {
        drop(self.take_all());
    }
}

impl<T: QueueLink> fmt::Debug for Inbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("is_empty", &self.is_empty()).finish()
    }
}
