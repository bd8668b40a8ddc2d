//! What lies under the lock of a channel: values, counts, and who waits for what.
//!
//! The rules are in `chan.rs`; here are the sums they are made of.

use raddle_base::shim::cell::UnsafeCell;
use raddle_base::wait::{self, Wake};

use super::store::Store;

/// The line of receivers that wait for values.
pub(super) const RECEIVERS: usize = 0;
/// The line of senders that wait for room, or for somebody to take their value.
pub(super) const SENDERS: usize = 1;

/// A wait ended with what was waited for.
pub(super) const SERVED: u8 = 1;
/// A wait ended with the channel.
pub(super) const REFUSED: u8 = 2;

/// The lock, the two lines and the state.
pub(super) type WaitQueue<T> = wait::WaitQueue<Offer<T>, State<T>, 2>;
pub(super) type Locked<'q, T> = wait::Locked<'q, Offer<T>, State<T>, 2>;

/// What a sender that waits offers: where its value lies, or that it has none and wants a place.
/// Receivers leave it empty.
pub(super) struct Offer<T>(*const UnsafeCell<Option<T>>);

// SAFETY: the cell lies in the waiting future, which stays until the node is out; whoever holds the
// lock may take the value, which crosses threads.
unsafe impl<T: Send> Send for Offer<T> {}

impl<T> Offer<T> {
    pub(super) const NONE: Self = Offer(std::ptr::null());

    /// The value in this cell.
    pub(super) fn of(cell: &UnsafeCell<Option<T>>) -> Self {
        Offer(cell)
    }

    /// Moves the value out, if there is one.
    ///
    /// # Safety
    ///
    /// The node of this offer waits in its line, and the caller holds the lock.
    unsafe fn take(&self) -> Option<T> {
        // SAFETY: the cell is alive and the caller's, as the node waits.
        unsafe { self.0.as_ref()?.with_mut(|value| (*value).take()) }
    }
}

/// The state of a channel.
pub(super) struct State<T> {
    pub(super) store: Store<T>,
    /// Values that belong to receivers which were woken for them and have not come yet.
    pub(super) promised: usize,
    /// Places held by permits.
    pub(super) reserved: usize,
    /// Places there are: the capacity, and zero once nothing is accepted.
    pub(super) limit: usize,
    /// Of a rendezvous that is open: how many senders wait, each with a value.
    pub(super) offers: usize,
    /// It was closed, or all senders are gone.
    pub(super) ending: bool,
    pub(super) closed: bool,
    pub(super) senders: usize,
    pub(super) receivers: usize,
}

impl<T> State<T> {
    pub(super) fn new(store: Store<T>, limit: usize) -> Self {
        let (ending, closed) = (false, false);
        let (senders, receivers) = (1, 1);
        State {
            store,
            promised: 0,
            reserved: 0,
            limit,
            offers: 0,
            ending,
            closed,
            senders,
            receivers,
        }
    }

    /// Whether a place is free. Then no sender waits.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.store.len() + self.reserved < self.limit
    }

    /// Whether values are still accepted.
    pub(super) fn is_open(&self) -> bool {
        !self.closed && self.receivers > 0
    }

    /// Values that can be taken, by those they are promised to or by others.
    #[inline]
    pub(super) fn available(&self) -> usize {
        self.store.len() + self.offers
    }

    /// Values that are promised to nobody. Then no receiver waits.
    #[inline]
    pub(super) fn free(&self) -> usize {
        // Fewer than were promised: a sender of a rendezvous took its value back.
        self.available().saturating_sub(self.promised)
    }

    /// Whether there is nothing, and nothing will come.
    pub(super) fn is_at_end(&self) -> bool {
        let none_under_way = self.reserved == 0 || self.senders == 0;
        self.ending && self.available() == 0 && none_under_way
    }

    /// Whether a value can be taken without a look at anything else.
    #[inline]
    pub(super) fn is_calm(&self) -> bool {
        !self.ending && !self.store.has_drained()
    }
}

/// Promises a free value to the receiver that waits first.
#[inline]
pub(super) fn promise<T>(queue: &mut Locked<'_, T>) -> Option<Wake> {
    if queue.is_line_empty(RECEIVERS) { None } else { promise_first(queue) }
}

#[cold]
fn promise_first<T>(queue: &mut Locked<'_, T>) -> Option<Wake> {
    let state = queue.shared();
    if state.free() == 0 {
        return None;
    }
    state.promised += 1;
    queue.grant_front_of(RECEIVERS, SERVED)
}

/// Serves the sender that waits first, if there is a place: takes its value, or reserves.
pub(super) fn admit<T>(queue: &mut Locked<'_, T>) -> Option<Wake> {
    if !queue.shared().has_room() {
        return None;
    }
    let offer = first_offer(queue)?;
    let state = queue.shared();
    match offer {
        // SAFETY: senders wait at a ring only, and it has room.
        Some(value) => unsafe { state.store.push(value) },
        None => state.reserved += 1,
    }
    queue.grant_front_of(SENDERS, SERVED)
}

/// Takes the value from the hands of the sender that waits first, in a rendezvous.
pub(super) fn take_offer<T>(queue: &mut Locked<'_, T>) -> Option<(T, Wake)> {
    let value = first_offer(queue)??;
    queue.shared().offers -= 1;
    queue.grant_front_of(SENDERS, SERVED).map(|wake| (value, wake))
}

fn first_offer<T>(queue: &mut Locked<'_, T>) -> Option<Option<T>> {
    // SAFETY: the lock is held, and the first of a line waits.
    queue.front_of(SENDERS, |offer| unsafe { offer.take() })
}
