//! A receiver goes, and the values that only it had yet to receive go with it.
//!
//! Their destructors are foreign code, so they are dropped one by one with nothing locked. Others
//! go on meanwhile: `ring.rs` says how later values can go before earlier ones.

use super::shared::{REFUSED, SENDERS, Shared};
use crate::closing::OnDrop;

impl<T> Shared<T> {
    /// A receiver goes.
    pub(super) fn leave(&self, next: u64, overwrites: bool) {
        // Last, whatever panics before.
        let _audience = OnDrop(|| self.audience.leave());
        let mut queue = self.queue.lock();
        let end = queue.shared().leave(overwrites);
        // Dropped first, also if a waker panics.
        let _rest = Rest { shared: self, next, end };
        if queue.shared().receivers() == 0 && !queue.is_line_empty(SENDERS) {
            queue.shared().spoken.scatter();
            queue.release_line(SENDERS, REFUSED, |_, _, _, _| ());
        } else {
            drop(queue);
        }
    }
}

/// The values that a receiver has left behind.
struct Rest<'a, T> {
    shared: &'a Shared<T>,
    next: u64,
    end: u64,
}

impl<T> Rest<'_, T> {
    /// Gives up the next values. The one returned nobody else counted on.
    fn give_up(&mut self) -> Option<T> {
        let mut queue = self.shared.queue.lock();
        let value = queue.shared().give_up(&mut self.next, self.end);
        let surplus = queue.shared().surplus();
        self.shared.serve(queue);
        drop(surplus);
        value
    }
}

impl<T> Drop for Rest<'_, T> {
    fn drop(&mut self) {
        let rest = Again(self);
        while let Some(value) = rest.0.give_up() {
            // Foreign code, with nothing locked.
            drop(value);
        }
    }
}

/// If a waker or a value panics, the rest follows all the same; if a second one does, that ends the
/// process, as with any collection.
struct Again<'r, 'a, T>(&'r mut Rest<'a, T>);

impl<T> Drop for Again<'_, '_, T> {
    fn drop(&mut self) {
        while let Some(value) = self.0.give_up() {
            drop(value);
        }
    }
}
