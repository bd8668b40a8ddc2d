//! What lies under the lock of a channel: values, counts, and who waits for what.
//!
//! The rules are in `chan.rs`; here are the sums they are made of.

use raddle_base::shim::cell::UnsafeCell;
use raddle_base::wait::{self, Wake};

use super::store::Store;
use crate::places::spoken::Spoken;

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

/// What a sender that waits offers: where its value lies, or that it has none and wants so many
/// places. Receivers leave it empty.
pub(crate) struct Offer<T> {
    value: *const UnsafeCell<Option<T>>,
    places: usize,
}

// SAFETY: the cell lies in the waiting future, which stays until the node is out; whoever holds the
// lock may take the value, which crosses threads.
unsafe impl<T: Send> Send for Offer<T> {}

impl<T> Offer<T> {
    pub(super) const NONE: Self = Offer::places(0);

    /// No value, and so many places wanted.
    pub(super) const fn places(places: usize) -> Self {
        Offer { value: std::ptr::null(), places }
    }

    /// The value in this cell, which wants one place.
    pub(super) fn of(value: &UnsafeCell<Option<T>>) -> Self {
        Offer { value, places: 1 }
    }

    /// Moves the value out, if there is one.
    ///
    /// # Safety
    ///
    /// The node of this offer waits in its line, and the caller holds the lock.
    unsafe fn take(&self) -> Option<T> {
        // SAFETY: the cell is alive and the caller's, as the node waits.
        unsafe { self.value.as_ref()?.with_mut(|value| (*value).take()) }
    }
}

/// The state of a channel.
pub(super) struct State<T> {
    pub(super) store: Store<T>,
    /// Values that belong to receivers which were woken for them and have not come yet.
    pub(super) promised: usize,
    /// Places held by permits, or gathered for the sender that waits first.
    pub(super) spoken: Spoken,
    /// Places there are: the capacity, and zero once nothing is accepted.
    pub(super) limit: usize,
    /// Of a rendezvous that is open: how many senders wait, each with a value.
    pub(super) offers: usize,
    /// It was closed, or all senders are gone.
    pub(super) ending: bool,
    pub(super) closed: bool,
    pub(super) has_senders: bool,
    pub(super) has_receivers: bool,
}

impl<T> State<T> {
    /// With senders and receivers.
    pub(super) fn new(store: Store<T>, limit: usize) -> Self {
        State {
            store,
            promised: 0,
            spoken: Spoken::default(),
            limit,
            offers: 0,
            ending: false,
            closed: false,
            has_senders: true,
            has_receivers: true,
        }
    }

    /// Whether a place is free. Then no sender waits.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.store.len() + self.spoken.count() < self.limit
    }

    /// Places that are free.
    pub(super) fn room(&self) -> usize {
        self.limit.saturating_sub(self.store.len() + self.spoken.count())
    }

    /// Nothing is accepted any more, and no sender waits: there are no places.
    pub(super) fn end_places(&mut self) {
        (self.limit, self.offers) = (0, 0);
        self.spoken.scatter();
    }

    /// Whether values are still accepted.
    pub(super) fn is_open(&self) -> bool {
        !self.closed && self.has_receivers
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
        let none_under_way = self.spoken.count() == 0 || !self.has_senders;
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

/// Serves the sender that waits first, if there are the places it wants: takes its value, or
/// reserves. What there is of them is gathered for it.
pub(super) fn admit<T>(queue: &mut Locked<'_, T>) -> Option<Wake> {
    let want = queue.front_of(SENDERS, |offer| offer.places);
    let state = queue.shared();
    let room = state.limit.saturating_sub(state.store.len());
    if !state.spoken.serve(room, want) {
        return None;
    }
    if let Some(value) = first_offer(queue)? {
        let state = queue.shared();
        state.spoken.give_back(1);
        // SAFETY: senders with values wait for places at a ring only, and it has room.
        unsafe { state.store.push(value) };
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
