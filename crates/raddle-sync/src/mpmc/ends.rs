//! What happens when the last end of a side goes, or somebody closes the channel.
//!
//! Ends are counted without the lock (`crate::ends`); only the last one takes it. The state changes
//! first, and with it the flags that are read without the lock; then all are told who wait. If a
//! waker of one group panics, the other groups are told all the same.

use raddle_base::wait::WakeBatch;

use super::chan::Chan;
use super::state::{REFUSED, SENDERS};
use super::store::Store;
use crate::closing::OnDrop;
use crate::ends::{Count, Counted, Receivers, Senders};

impl<T> Chan<T> {
    /// Accepts nothing new, and refuses those who wait to send. False if it was closed before.
    pub(super) fn close(&self) -> bool {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        if state.closed {
            return false;
        }
        (state.closed, state.ending) = (true, true);
        state.end_places();
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
        state.store.len() + state.spoken.count() >= self.capacity()
    }
}

impl<T> Counted<Senders> for Chan<T> {
    fn count(&self) -> &Count {
        &self.senders
    }

    fn last_left(&self) {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        (state.has_senders, state.ending) = (false, true);
        self.to_receivers.mark();
        let _receivers = OnDrop(|| self.to_receivers.notify());
        self.settle(queue, &mut WakeBatch::new());
    }
}

impl<T> Counted<Receivers> for Chan<T> {
    fn count(&self) -> &Count {
        &self.receivers
    }

    fn last_left(&self) {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        state.has_receivers = false;
        state.end_places();
        // Dropped last: foreign code, and what it does finds the channel in its final state.
        let _rest = std::mem::replace(&mut state.store, Store::none());
        self.to_senders.mark();
        let _senders = OnDrop(|| self.to_senders.notify());
        queue.release_line(SENDERS, REFUSED, |_, _, _, _| ());
    }
}
