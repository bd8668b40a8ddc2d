//! An idle worker keeps watch over busy siblings.
//!
//! A worker in a long dispatch looks at nothing meanwhile: its completions, timers and queued
//! tasks wait, although a sibling may be asleep. So one of those that sleep does so for a short
//! time only: it comes back after 50 µs, and each time it finds nothing, after twice as
//! long, up to 1 ms. A sibling that has made no dispatch since the last look, and has
//! something behind it, is relieved of that. Siblings that move look for themselves.
//!
//! There is one watcher at a time: whoever goes to sleep while the post is vacant takes it. If the
//! watcher gets work of its own and others sleep on, the monitor sends one of them, which then
//! takes the post. With nobody busy nobody watches.

use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::shim::atomic::Ordering::Acquire;

use crate::sched::peer::Peer;
use crate::sched::post::SHORTEST;
use crate::sched::worker::Worker;

/// The pause while a sibling is absent, whose driver only a visit can serve.
const VISIT_EVERY: Duration = Duration::from_micros(500);

impl Worker {
    /// Until when this worker may sleep for the sake of its siblings.
    pub(crate) fn watch_limit(&self) -> Option<Instant> {
        // Acquire: pairs with the count's change by whoever is absent.
        if self.shared.absent.load(Acquire) != 0 {
            return Some(Instant::now() + VISIT_EVERY);
        }
        if self.shared.is_alone() || !self.has_busy_sibling() {
            return None;
        }
        let on_post = self.watch.on_post.get() || self.shared.watch_post.take(self.index);
        self.watch.on_post.set(on_post);
        // A clock read per sleep of the one that watches.
        on_post.then(|| Instant::now() + self.watch.pause.get())
    }

    fn siblings(&self) -> impl Iterator<Item = (usize, &Peer)> {
        let peers = self.shared.active_peers().iter().enumerate();
        peers.filter(|(index, _)| *index != self.index).map(|(index, peer)| (index, &**peer))
    }

    fn has_busy_sibling(&self) -> bool {
        self.siblings().any(|(_, peer)| peer.sleep.is_awake())
    }

    /// The watcher is back from its sleep: relieves siblings that have not moved meanwhile.
    pub(crate) fn watch_over(&self, peer: &Peer) {
        if !self.watch.on_post.get() {
            return;
        }
        if self.anything_own(peer) {
            // Work of its own.
            self.leave_post();
            return;
        }
        let mut epochs = self.watch.epochs.borrow_mut();
        epochs.resize(self.shared.peers.len(), u64::MAX);
        let now = Instant::now();
        for (index, victim) in self.siblings() {
            let epoch = victim.counters.dispatches.get();
            let still = std::mem::replace(&mut epochs[index], epoch) == epoch;
            if still && victim.sleep.is_awake() && victim.has_pending(now) {
                self.relieve_one(peer, victim);
            }
        }
        drop(epochs);
        if self.sides.is_empty(peer) {
            self.watch.grow();
        } else {
            self.watch.pause.set(SHORTEST);
            self.leave_post();
        }
    }

    /// Gives the watch up: this worker has something to do.
    pub(crate) fn leave_post(&self) {
        if self.watch.on_post.replace(false) {
            self.shared.watch_post.leave();
        }
    }
}
