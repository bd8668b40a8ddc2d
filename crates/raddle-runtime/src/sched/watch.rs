//! An idle worker keeps watch over busy siblings.
//!
//! A worker in a long dispatch looks at nothing meanwhile: its completions, timers and queued
//! tasks wait, although a sibling may be asleep. So one of those that sleep sleeps differently:
//!
//! - it *listens*: it waits for the drivers of busy siblings beside its own (see
//!   [`Driver::park`](crate::park::Driver::park)), and until their next deadline at the latest;
//! - and it comes back after 50 µs, and each time it finds nothing, after twice as long, up to
//!   1 ms, because nobody is told of a queue behind a long dispatch.
//!
//! When it is back, it looks at all siblings that are awake. One that is in a long dispatch, or in
//! dispatches that are long on the average, and has something behind it, is relieved of that. The
//! others look for themselves, and sooner than it would help them to be helped.
//!
//! **A sibling that is busy with I/O** makes its driver readable all the time, and has seen to it
//! itself before the watcher is up. A watcher that was woken for nothing is deaf for its next
//! sleep: for 50 µs, and twice as long each time in a row, up to 1 ms. So it is woken two thousand
//! times a second at most, whatever the siblings do.
//!
//! There is one watcher at a time: whoever goes to sleep while the post is vacant and somebody is
//! busy takes it. If the watcher gets work of its own and others sleep on, the monitor sends one of
//! them, which then takes the post; while somebody is absent, whom nobody else visits, the watcher
//! does that itself. With nobody busy nobody watches.

use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::shim::atomic::Ordering::Acquire;

use crate::sched::park::Remote;
use crate::sched::peer::Peer;
use crate::sched::post::SHORTEST;
use crate::sched::worker::Worker;

/// The longest pause while a sibling is absent, whose driver only a visit can serve.
const VISIT_EVERY: Duration = Duration::from_micros(500);
/// A dispatch in which an event waits for longer than this is a long one.
const LONG: Duration = Duration::from_micros(50);
/// A sibling that has not moved for so long may be in a long dispatch.
const STILL: Duration = Duration::from_micros(5);

impl Worker {
    /// Until when this worker may sleep for the sake of its siblings.
    pub(crate) fn watch_limit(&self) -> Option<Instant> {
        if !self.takes_post() {
            return None;
        }
        // A clock read per sleep of the one that watches.
        let now = Instant::now();
        let epochs = self.siblings().map(|(_, peer)| peer.counters.dispatches.get());
        // Acquire: pairs with the count's change by whoever is absent.
        let most = if self.shared.absent.load(Acquire) != 0 { VISIT_EVERY } else { Duration::MAX };
        let end = self.watch.begin(now, most, epochs);
        if !self.watch.listens() {
            return Some(end);
        }
        let deadlines = self.siblings().filter_map(|(_, peer)| peer.timers.next());
        // What is due already is left to the sibling for the shortest pause.
        Some(deadlines.min().map_or(end, |at| at.max(now + SHORTEST).min(end)))
    }

    /// Whether this worker is the watcher; none is needed while nobody is busy.
    fn takes_post(&self) -> bool {
        if self.shared.is_alone() || !self.has_busy_sibling() {
            self.leave_post();
            return false;
        }
        let on_post = self.watch.on_post.get() || self.shared.watch_post.take(self.index);
        self.watch.on_post.set(on_post);
        on_post
    }

    fn siblings(&self) -> impl Iterator<Item = (usize, &Peer)> {
        let peers = self.shared.active_peers().iter().enumerate();
        peers.filter(|(index, _)| *index != self.index).map(|(index, peer)| (index, &**peer))
    }

    fn has_busy_sibling(&self) -> bool {
        self.siblings().any(|(_, peer)| peer.sleep.is_awake())
    }

    /// The drivers to wait for beside this worker's own.
    pub(crate) fn listened_to(&self) -> impl Iterator<Item = &dyn Remote> {
        let listens = self.watch.on_post.get() && self.watch.listens();
        let busy = self.siblings().filter(move |(_, peer)| listens && peer.sleep.is_awake());
        busy.filter_map(|(_, peer)| peer.remote.get().map(|remote| &**remote))
    }

    /// The watcher is back from its sleep: relieves siblings that are in long dispatches.
    pub(crate) fn watch_over(&self, peer: &Peer) {
        if !self.watch.on_post.get() {
            return;
        }
        if self.anything_own(peer) {
            // Work of its own.
            self.leave_post();
            return;
        }
        let now = Instant::now();
        for (at, (_, victim)) in self.siblings().enumerate() {
            let moved = self.watch.moved(at, victim.counters.dispatches.get(), now);
            let slow = moved.is_some_and(|(count, elapsed)| is_slow(count, elapsed));
            if slow && victim.sleep.is_awake() && victim.has_pending(now) {
                self.relieve_one(peer, victim);
            }
        }
        if self.sides.is_empty(peer) {
            self.watch.found_nothing(now);
        } else {
            self.watch.found();
            self.leave_post();
        }
    }

    /// Gives the watch up: this worker has something to do, or nobody is busy.
    pub(crate) fn leave_post(&self) {
        if !self.watch.on_post.replace(false) {
            return;
        }
        self.shared.watch_post.leave();
        // Acquire: as in `watch_limit`.
        if self.shared.absent.load(Acquire) != 0 {
            // Somebody else is to visit those.
            self.shared.notify_any();
        }
    }
}

/// Whether a worker that has made `moved` dispatches in a time is in a long one, as far as that
/// tells.
fn is_slow(moved: u64, elapsed: Duration) -> bool {
    match u32::try_from(moved) {
        Ok(0) => elapsed >= STILL,
        Ok(moved) => elapsed / moved >= LONG,
        Err(_) => false,
    }
}
