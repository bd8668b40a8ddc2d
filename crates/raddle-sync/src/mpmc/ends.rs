//! The ends of a channel: how many there are, and what happens when the last of a side goes, or
//! somebody closes the channel.
//!
//! The state changes first, under the lock, and with it the flags that are read without it; then
//! all are told who wait. If a waker of one group panics, the other groups are told all the same.

use raddle_base::wait::WakeBatch;

use super::chan::Chan;
use super::state::{REFUSED, SENDERS};
use super::store::Store;
use crate::closing::OnDrop;

impl<T> Chan<T> {
    /// Accepts nothing new, and refuses those who wait to send. False if it was closed before.
    pub(super) fn close(&self) -> bool {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        if state.closed {
            return false;
        }
        (state.closed, state.ending, state.limit, state.offers) = (true, true, 0, 0);
        self.to_senders.mark();
        self.to_receivers.mark();
        let _receivers = OnDrop(|| self.to_receivers.notify());
        let _senders = OnDrop(|| self.to_senders.notify());
        let _waiting = OnDrop(|| self.settle(self.queue.lock(), &mut WakeBatch::new()));
        queue.release_line(SENDERS, REFUSED, |_, _, _, _| ());
        true
    }

    /// Values in the store.
    pub(super) fn len(&self) -> usize {
        self.queue.lock().shared().store.len()
    }

    /// Whether all places are taken or reserved.
    pub(super) fn is_full(&self) -> bool {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        state.store.len() + state.reserved >= self.capacity()
    }

    /// How many senders and receivers there are.
    pub(super) fn counts(&self) -> (usize, usize) {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        (state.senders, state.receivers)
    }

    /// One more sender, unless there is none any more.
    pub(super) fn add_sender(&self) -> bool {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        let lives = state.senders > 0;
        state.senders += usize::from(lives);
        lives
    }

    /// One more receiver, unless there is none any more.
    pub(super) fn add_receiver(&self) -> bool {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        let lives = state.receivers > 0;
        state.receivers += usize::from(lives);
        lives
    }

    pub(super) fn remove_sender(&self) {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        state.senders -= 1;
        if state.senders > 0 {
            return;
        }
        state.ending = true;
        self.to_receivers.mark();
        let _receivers = OnDrop(|| self.to_receivers.notify());
        self.settle(queue, &mut WakeBatch::new());
    }

    pub(super) fn remove_receiver(&self) {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        state.receivers -= 1;
        if state.receivers > 0 {
            return;
        }
        (state.limit, state.offers) = (0, 0);
        // Dropped last: foreign code, and what it does finds the channel in its final state.
        let _rest = std::mem::replace(&mut state.store, Store::none());
        self.to_senders.mark();
        let _senders = OnDrop(|| self.to_senders.notify());
        queue.release_line(SENDERS, REFUSED, |_, _, _, _| ());
    }
}
