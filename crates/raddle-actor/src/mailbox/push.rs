//! How a message enters: what a sender does under the lock.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::Waker;

use raddle_base::shim::atomic::Ordering::{Relaxed, Release};
use raddle_base::wait::{Waiter, Wake, WakeBatch};

use super::policy::Policy;
use super::shared::{
    ACCEPTED, CLOSED, Entry, Guard, REFUSED, SENDERS, Shared, Slot, State, WATCHERS, has_place,
    larger,
};

/// What became of a message that was offered.
#[must_use]
pub(crate) enum Offer<M> {
    /// Accepted, or dropped as the policy says.
    Done,
    /// The sender's node waits, with the message in it.
    Waiting,
    /// There is no room.
    Full(Entry<M>),
    /// The mailbox is closed.
    Closed(Entry<M>),
}

/// What the lock's holder found there to be.
enum Room<M> {
    /// The buffer has a place for the message; an older one is dropped for it, if there is one.
    Place(Option<Entry<M>>),
    /// The buffer must grow first, to this capacity.
    Grow(usize),
    /// The bound is reached, or senders wait.
    Full,
}

impl<M> Shared<M> {
    /// Offers a message, for a sender that does not wait.
    #[inline]
    pub(crate) fn offer(&self, entry: Entry<M>) -> Offer<M> {
        // SAFETY: there is no node.
        unsafe { self.offer_or_wait(entry, None) }
    }

    /// Offers a message; where there is no room and the policy is to wait, the node waits with the
    /// message in it.
    ///
    /// # Safety
    ///
    /// The caller owns the node, which is idle, and takes it out of this queue before it goes
    /// away.
    pub(crate) unsafe fn offer_or_wait(
        &self,
        entry: Entry<M>,
        node: Option<(Pin<&Waiter<Slot<M>>>, Waker)>,
    ) -> Offer<M> {
        let mut spare = VecDeque::new();
        loop {
            let mut locked = self.queue.lock();
            if self.is_closed_locked() {
                drop(locked);
                return Offer::Closed(entry);
            }
            match self.room(&mut locked, &mut spare) {
                Room::Place(oldest) => {
                    self.push(locked, entry);
                    // Foreign code: after the lock.
                    drop(oldest);
                    return Offer::Done;
                }
                Room::Grow(capacity) => {
                    drop(locked);
                    spare = VecDeque::with_capacity(capacity);
                }
                Room::Full => {
                    // SAFETY: passed on from the caller.
                    return unsafe { self.refuse(locked, entry, node) };
                }
            }
        }
    }

    /// Puts the message into the buffer, which has a place, and wakes the receiver.
    #[inline]
    fn push(&self, mut locked: Guard<'_, M>, entry: Entry<M>) {
        let state = locked.shared();
        state.messages.push_back(entry);
        let receiver = state.receiver.take();
        drop(locked);
        if let Some(waker) = receiver {
            Wake::from(waker).wake();
        }
    }

    #[inline]
    fn room(&self, locked: &mut Guard<'_, M>, spare: &mut VecDeque<Entry<M>>) -> Room<M> {
        let full = self.is_bounded() && self.is_full(locked);
        if full && self.policy != Policy::DropOldest {
            return Room::Full;
        }
        let state = locked.shared();
        if !has_place(&mut state.messages, spare) {
            return Room::Grow(larger(&state.messages).min(self.bound.saturating_add(1)));
        }
        Room::Place(if full { self.evict(state) } else { None })
    }

    /// Whether the bound is reached, or senders wait that come first.
    fn is_full(&self, locked: &mut Guard<'_, M>) -> bool {
        !locked.is_line_empty(SENDERS) || self.len_locked(locked.shared()) >= self.bound
    }

    /// Gives up the oldest message. One that the receiver has in hand is left to it.
    fn evict(&self, state: &mut State<M>) -> Option<Entry<M>> {
        state.dropped = state.dropped.wrapping_add(1);
        // Relaxed: written under the lock.
        let held = self.held.load(Relaxed);
        if held == 0 {
            return state.messages.pop_front();
        }
        self.held.store(held - 1, Relaxed);
        state.shed += 1;
        None
    }

    /// There is no room.
    ///
    /// # Safety
    ///
    /// As for [`offer_or_wait`](Self::offer_or_wait).
    #[cold]
    unsafe fn refuse(
        &self,
        mut locked: Guard<'_, M>,
        entry: Entry<M>,
        node: Option<(Pin<&Waiter<Slot<M>>>, Waker)>,
    ) -> Offer<M> {
        match (self.policy, node) {
            (Policy::Wait, Some((node, waker))) => {
                // SAFETY: the node is idle, so its payload is its owner's.
                node.payload().with_mut(|slot| unsafe { *slot = Some(entry) });
                // SAFETY: passed on from the caller.
                unsafe { locked.push_back_to(SENDERS, node, Some(waker)) };
                Offer::Waiting
            }
            (Policy::DropNewest, _) => {
                let state = locked.shared();
                state.dropped = state.dropped.wrapping_add(1);
                drop(locked);
                drop(entry);
                Offer::Done
            }
            (_, node) => {
                drop(locked);
                drop(node);
                Offer::Full(entry)
            }
        }
    }

    /// Lets the first waiting sender's message in, under the lock; the buffer has a place for it
    /// and the bound is not reached.
    #[inline]
    pub(crate) fn admit(&self, locked: &mut Guard<'_, M>) -> Option<Wake> {
        if locked.is_line_empty(SENDERS) {
            return None;
        }
        let entry = locked.front_of(SENDERS, Option::take).flatten()?;
        locked.shared().messages.push_back(entry);
        locked.grant_front_of(SENDERS, ACCEPTED)
    }

    /// Lets waiting senders in until the mailbox is full.
    pub(crate) fn admit_all(&self) {
        let (mut spare, mut batch) = (VecDeque::new(), WakeBatch::new());
        loop {
            let mut locked = self.lock_with_place(&mut spare);
            if self.len_locked(locked.shared()) >= self.bound {
                break;
            }
            let Some(wake) = self.admit(&mut locked) else { break };
            drop(locked);
            batch.push(wake);
            if batch.is_full() {
                batch.wake_all();
            }
        }
        batch.finish();
    }

    /// Accepts nothing any more. Waiting senders get their messages back.
    pub(crate) fn close(&self) {
        let locked = self.queue.lock();
        if self.is_closed_locked() {
            return;
        }
        // Release: whoever sees it closed sees what led to that.
        self.queue.word().fetch_or(CLOSED, Release);
        // The others are released also if a waker of a sender panics.
        let _rest = Watchers { shared: self };
        locked.release_all(REFUSED);
    }
}

/// Releases those who wait for the mailbox to be closed, and the receiver.
struct Watchers<'a, M> {
    shared: &'a Shared<M>,
}

impl<M> Drop for Watchers<'_, M> {
    fn drop(&mut self) {
        let mut locked = self.shared.queue.lock();
        // One wake may be added to a batch by who lets it go on.
        let mut receiver = locked.shared().receiver.take();
        if locked.is_line_empty(WATCHERS) {
            drop(locked);
            return receiver.map(Wake::from).into_iter().for_each(Wake::wake);
        }
        locked.release_line(WATCHERS, REFUSED, |_, batch, _, _| {
            if let Some(waker) = receiver.take() {
                batch.push(waker.into());
            }
        });
    }
}
