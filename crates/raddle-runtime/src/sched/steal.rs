//! Taking work from others: half of a sibling's queue, the inbox of one that is busy, everything
//! of one that is away.

use raddle_base::clock::Instant;
use raddle_base::hooks;
use raddle_base::shim::atomic::Ordering::Acquire;

use crate::sched::peer::Peer;
use crate::sched::service::Class;
use crate::sched::worker::Worker;

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
                hooks::point(hooks::STOLEN);
                return true;
            }
        }
        false
    }

    fn steal_from(&self, peer: &Peer, victim: &Peer) -> bool {
        if victim.duty.is_absent() {
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

    /// Does the duties of a worker that does not: reaps its driver and fires its timers. The tasks
    /// they wake are served here.
    fn visit(&self, victim: &Peer) {
        self.in_service(|| {
            if let Some(remote) = victim.remote.get() {
                remote.nudge();
                // None: somebody else is at it.
                let _ = remote.try_rescue(RESCUE_MAX, victim.duty.is_absent());
            }
            if victim.timers.is_armed() {
                self.sides.in_service.set(Some(Class::Timer));
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

    /// Takes a share of the work of all absent workers, and serves their drivers and timers: for
    /// one that has work of its own and so does not come to steal.
    pub(crate) fn relieve(&self, peer: &Peer) {
        // Acquire: pairs with the count's change by whoever is absent.
        if self.shared.absent.load(Acquire) == 0 {
            return;
        }
        for (other, victim) in self.shared.active_peers().iter().enumerate() {
            if other != self.index && victim.duty.is_absent() {
                self.relieve_one(peer, victim);
            }
        }
    }

    /// Does the duties of `victim` once, and takes a share of its work.
    pub(crate) fn relieve_one(&self, peer: &Peer, victim: &Peer) {
        self.visit(victim);
        self.sides.serve(peer, victim.inbox.take_all());
        self.sides.steal_served(peer, victim);
        self.sides.steal_rotating(peer, victim);
        if let Some(task) = victim.take_slot() {
            self.sides.push_served(peer, task);
        }
    }

    /// Serves the drivers and timers of all absent workers.
    pub(crate) fn visit_away(&self) {
        // Acquire: as in `relieve`.
        if self.shared.absent.load(Acquire) == 0 {
            return;
        }
        for (other, peer) in self.shared.active_peers().iter().enumerate() {
            if other != self.index && peer.duty.is_absent() {
                self.visit(peer);
            }
        }
    }
}
