//! Taking work from others: half of a sibling's queue, the inbox of one that is busy, everything
//! of one that is away.

use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::shim::atomic::Ordering::Acquire;

use crate::sched::peer::Peer;
use crate::sched::worker::Worker;

/// How often an idle worker looks after a sibling in a blocking section, whose driver only a
/// visit can serve.
const WATCH_EVERY: Duration = Duration::from_micros(500);
/// Completions and timers handled on behalf of a sibling in one visit.
const RESCUE_MAX: usize = 256;

impl Worker {
    /// Looks through all others once, from a random one on; true with something to run.
    pub(crate) fn steal(&self, peer: &Peer) -> bool {
        let peers = self.shared.active_peers();
        let start = self.random_below(peers.len() as u32) as usize;
        let others = (0..peers.len()).map(|offset| (start + offset) % peers.len());
        for victim in others.clone().filter(|&other| other != self.index) {
            if self.steal_from(peer, &peers[victim]) {
                peer.counters.steals.add(1);
                return true;
            }
        }
        if !self.shared.injector.is_empty() {
            return true;
        }
        // The slot last: its owner is about to run it, with its caches warm.
        for victim in others.filter(|&other| other != self.index) {
            if let Some(task) = peers[victim].take_slot() {
                self.sides.push_served(peer, task);
                peer.counters.steals.add(1);
                return true;
            }
        }
        false
    }

    fn steal_from(&self, peer: &Peer, victim: &Peer) -> bool {
        if victim.is_away() {
            self.visit(victim);
        }
        if self.sides.steal_served(peer, victim) || self.sides.steal_rotating(peer, victim) {
            return true;
        }
        if victim.inbox.is_empty() {
            return false;
        }
        let tasks = victim.inbox.take_all();
        let any = !tasks.is_empty();
        self.sides.serve(peer, tasks);
        any
    }

    /// Does the duties of a worker whose thread is in a blocking section: reaps its driver and
    /// fires its timers. The tasks they wake are served here.
    fn visit(&self, victim: &Peer) {
        self.in_service(|| {
            if let Some(remote) = victim.remote.get() {
                // None: somebody else is at it.
                let _ = remote.try_rescue(RESCUE_MAX);
            }
            if victim.timers.is_armed() {
                victim.timers.fire(Instant::now(), RESCUE_MAX);
            }
        });
    }

    /// Whether any other worker has something that this one might take.
    pub(crate) fn any_stealable(&self) -> bool {
        let peers = self.shared.active_peers();
        let others = peers.iter().enumerate().filter(|(other, _)| *other != self.index);
        !self.shared.injector.is_empty()
            || others.map(|(_, peer)| peer).any(|peer| peer.has_free_work())
    }

    /// How long this worker may sleep while others are away.
    pub(crate) fn watch_limit(&self) -> Option<Instant> {
        // Acquire: pairs with the count's change by whoever goes away.
        (self.shared.away.load(Acquire) != 0).then(|| Instant::now() + WATCH_EVERY)
    }

    /// Takes a share of the work of all workers that are away, and serves their drivers and
    /// timers: for a stand-in that has work of its own and so does not come to steal.
    pub(crate) fn relieve(&self, peer: &Peer) {
        // Acquire: as above.
        if self.shared.away.load(Acquire) == 0 {
            return;
        }
        for (other, victim) in self.shared.active_peers().iter().enumerate() {
            if other != self.index && victim.is_away() {
                self.visit(victim);
                self.sides.serve(peer, victim.inbox.take_all());
                self.sides.steal_served(peer, victim);
                self.sides.steal_rotating(peer, victim);
                if let Some(task) = victim.take_slot() {
                    self.sides.push_served(peer, task);
                }
            }
        }
    }

    /// Serves the drivers and timers of all workers that are away.
    pub(crate) fn visit_away(&self) {
        // Acquire: as above.
        if self.shared.away.load(Acquire) == 0 {
            return;
        }
        for (other, peer) in self.shared.active_peers().iter().enumerate() {
            if other != self.index && peer.is_away() {
                self.visit(peer);
            }
        }
    }
}
