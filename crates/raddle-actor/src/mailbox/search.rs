//! Selective receive: the first message that a predicate wants, and the others stay in order.
//!
//! A search takes all messages in hand and remembers how far it has looked, so that it looks at
//! each message once, however often it is polled. Messages passed over still count against the
//! bound: a mailbox that is full of messages the predicate refuses stays full, and what the search
//! waits for finds no room in it, unless the policy drops the oldest.

use std::collections::VecDeque;
use std::mem;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::shim::atomic::Ordering::Relaxed;

use super::receive::{Change, Mailbox};

/// How far one search has looked. For one mailbox, and until something else is received from it.
#[derive(Debug, Default)]
pub struct Search {
    /// So many of the messages in hand were refused.
    seen: usize,
}

impl Search {
    /// A search that has seen nothing.
    pub fn new() -> Self {
        Search::default()
    }
}

impl<M> Mailbox<M> {
    /// The first message that `wanted` says true of, which is asked once for each message; `None`
    /// when none is wanted and none will come. For the rest see [`poll_recv`](Self::poll_recv).
    ///
    /// A panic of `wanted` loses nothing: the message is looked at again.
    pub fn poll_recv_where(
        &mut self,
        search: &mut Search,
        mut wanted: impl FnMut(&M) -> bool,
        cx: &mut Context<'_>,
    ) -> Poll<Option<M>> {
        ready!(context::check_budget(cx));
        loop {
            if let Some(message) = self.look(search, &mut wanted) {
                context::spend();
                return Poll::Ready(Some(message));
            }
            if let Change::Over = ready!(self.poll_wait(cx)) {
                return Poll::Ready(None);
            }
        }
    }

    /// As [`poll_recv_where`](Self::poll_recv_where), without waiting.
    pub fn try_recv_where(
        &mut self,
        search: &mut Search,
        mut wanted: impl FnMut(&M) -> bool,
    ) -> Option<M> {
        self.look(search, &mut wanted)
    }

    fn look(&mut self, search: &mut Search, wanted: &mut impl FnMut(&M) -> bool) -> Option<M> {
        self.take_in_hand(search);
        while let Some(entry) = self.hand.get(search.seen) {
            if !wanted(&entry.message) {
                search.seen += 1;
            } else if let Some(message) = self.take_at(search) {
                return Some(message);
            }
        }
        None
    }

    /// Takes all that is in the queue in hand.
    pub(super) fn take_in_hand(&mut self, search: &mut Search) {
        let mut locked = self.shared.queue.lock();
        let state = locked.shared();
        let shed = mem::take(&mut state.shed);
        let mut taken = VecDeque::new();
        mem::swap(&mut taken, &mut state.messages);
        // Relaxed: written under the lock, or only reported.
        let held = self.shared.held.load(Relaxed);
        self.shared.held.store(held + taken.len(), Relaxed);
        drop(locked);
        if self.hand.is_empty() {
            // The larger buffer is the one of the queue that was just in use.
            self.hand = taken;
        } else {
            self.hand.append(&mut taken);
        }
        self.settle(search, shed);
    }

    /// Drops what was shed, without the lock.
    fn settle(&mut self, search: &mut Search, shed: u32) {
        search.seen = search.seen.saturating_sub(shed as usize);
        self.shed(shed);
    }

    /// Takes out the message that was found, unless it does not count any more.
    fn take_at(&mut self, search: &mut Search) -> Option<M> {
        let mut spare = VecDeque::new();
        loop {
            let mut locked = self.shared.lock_with_place(&mut spare);
            let shed = mem::take(&mut locked.shared().shed);
            if shed > 0 {
                drop(locked);
                let gone = shed as usize > search.seen;
                self.settle(search, shed);
                if gone {
                    return None;
                }
                continue;
            }
            // Relaxed: written under the lock, or only reported.
            let held = self.shared.held.load(Relaxed);
            self.shared.held.store(held - 1, Relaxed);
            let wake = self.shared.admit(&mut locked);
            drop(locked);
            let entry = self.hand.remove(search.seen);
            return self.wake_with(wake, search.seen, entry?);
        }
    }
}
