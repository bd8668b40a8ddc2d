//! What the monitor sees of each worker at a look, and what it does about it.

use std::sync::Arc;
use std::time::Duration;

use raddle_base::clock::{CpuClock, Instant};
use raddle_base::shim::atomic::Ordering::Relaxed;

use crate::sched::monitor::report;
use crate::sched::peer::Peer;
use crate::sched::shared::Shared;
use crate::sched::stand_in;
use crate::sched::stuck::Others;

/// A worker that made fewer dispatches than this between two looks reads the clock before the
/// next one: its dispatches may have become long since it last chose an interval.
const SLOW: u64 = 64;

/// When to look next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Usual,
    /// Somebody does not move, with work behind.
    Again,
    /// Nobody is awake.
    Rest,
}

/// What was seen of one worker.
#[derive(Debug, Clone, Copy)]
struct Seen {
    /// How many dispatches it had made.
    epoch: u64,
    /// When that number was first seen.
    since: Instant,
    /// How long the worker's thread had run by then.
    ran: Duration,
    /// It did not move and had work behind it at the last look already.
    suspected: bool,
    reported: bool,
}

const NEVER: Seen = Seen {
    epoch: u64::MAX,
    since: Instant::FAR_FUTURE,
    ran: Duration::ZERO,
    suspected: false,
    reported: false,
};

/// What was seen of all workers and stand-ins.
pub(super) struct Looks {
    seen: Vec<Seen>,
    /// When the last look was.
    last: Instant,
}

impl Looks {
    pub(super) fn new(peers: usize) -> Self {
        Looks { seen: vec![NEVER; peers], last: Instant::from_nanos(0) }
    }

    /// The monitor has rested: what was seen before says nothing.
    pub(super) fn forget(&mut self) {
        self.seen.fill(NEVER);
    }

    /// Looks at everybody.
    pub(super) fn look(&mut self, shared: &Arc<Shared>, now: Instant) -> Next {
        // Relaxed: a statistic, and the grain of durations.
        shared.looks.store(shared.looks.load(Relaxed).wrapping_add(1), Relaxed);
        let mut next = Next::Rest;
        let mut left_behind = false;
        let mut mover = None;
        shared.ticks.look(now);
        let elapsed = now.duration_since(std::mem::replace(&mut self.last, now));
        for (index, (peer, seen)) in shared.active_peers().iter().zip(&mut self.seen).enumerate() {
            if !peer.sleep.is_awake() {
                *seen = NEVER;
                peer.service.forget();
                // A mark that came as it fell asleep.
                stand_in::take_back(shared, peer);
                continue;
            }
            if next == Next::Rest {
                next = Next::Usual;
            }
            seen.measure(peer, elapsed, shared.config.metrics);
            if seen.moves(peer, now) {
                mover = mover.or((!peer.duty.is_absent()).then_some(peer));
                continue;
            }
            if seen.examine(shared, index, now) {
                next = Next::Again;
            }
            left_behind |= peer.duty.is_absent() && is_behind(shared, peer, now);
        }
        if left_behind {
            call_for_relief(shared, mover.map(|peer| &**peer));
        } else if next != Next::Rest && shared.watch_post.is_vacant() && shared.idle.has_sleepers()
        {
            shared.send_searcher();
        }
        next
    }
}

impl Seen {
    /// Tells the worker's measurements what was seen since the last look.
    fn measure(&self, peer: &Peer, elapsed: Duration, sampling: bool) {
        if self.epoch == u64::MAX {
            return peer.service.forget();
        }
        let moved = peer.counters.dispatches.get().wrapping_sub(self.epoch);
        peer.observe(moved, elapsed, sampling);
    }

    /// Whether the worker has moved since the last look.
    fn moves(&mut self, peer: &Peer, now: Instant) -> bool {
        let epoch = peer.counters.dispatches.get();
        let moved = epoch.wrapping_sub(self.epoch);
        if moved == 0 {
            return false;
        }
        if self.epoch != u64::MAX && moved < SLOW && !peer.duty.is_absent() {
            peer.duty.call();
        }
        // A system call a look and busy worker: 0.2 µs in 2 ms.
        let ran = clock(peer).and_then(CpuClock::time).unwrap_or_default();
        *self = Seen { epoch, since: now, ran, ..NEVER };
        true
    }

    /// A worker that does not move: is it to be looked at again soon?
    fn examine(&mut self, shared: &Arc<Shared>, index: usize, now: Instant) -> bool {
        let peer = &shared.peers[index];
        // It has polled nothing yet, or waits in a blocking section of its own choice.
        if self.epoch == 0 || (peer.duty.is_absent() && !peer.duty.is_stuck()) {
            return false;
        }
        let still = now.duration_since(self.since);
        let mut again = false;
        let limit = shared.config.rescue_after;
        if still >= limit && !peer.duty.is_stuck() {
            let behind = is_behind(shared, peer, now);
            if behind && self.suspected && shared.config.rescue && self.is_at_it(peer, limit) {
                stand_in::take_over(shared, index);
            }
            again = behind && !self.suspected;
            self.suspected = behind;
        }
        if shared.config.report_after.is_some_and(|limit| still >= limit) && !self.reported {
            self.report(shared, index, still, now);
        }
        again
    }

    /// Whether the worker's thread has run for half of `limit` since it last moved, or blocks. One
    /// that only waits for a processor is no case for a stand-in, which would wait as well.
    #[cold]
    fn is_at_it(&self, peer: &Peer, limit: Duration) -> bool {
        let Some(clock) = clock(peer) else { return true };
        let ran = clock.time().map_or(limit, |time| time.saturating_sub(self.ran));
        ran >= limit / 2 || clock.is_blocked()
    }

    #[cold]
    fn report(&mut self, shared: &Arc<Shared>, index: usize, still: Duration, now: Instant) {
        self.reported = true;
        let peer = &shared.peers[index];
        // Relaxed: written by the worker before the dispatch that has not ended since.
        let id = peer.running.load(Relaxed);
        let others = match (peer.duty.is_stuck(), is_behind(shared, peer, now)) {
            (true, _) if stand_in::is_left(shared) => Others::TakenOver,
            (true, _) => Others::NoStandIn,
            (false, true) if !shared.config.rescue => Others::NotRescued,
            _ => Others::None,
        };
        if peer.counters.dispatches.get() == self.epoch {
            report::tell(shared, index, id, still, others);
        }
    }
}

fn clock(peer: &Peer) -> Option<CpuClock> {
    // Relaxed: a number, written before the worker was first awake.
    CpuClock::from_bits(peer.cpu.load(Relaxed))
}

/// Whether something waits for the worker that others could do.
fn is_behind(shared: &Shared, peer: &Peer, now: Instant) -> bool {
    !shared.injector.is_empty() || peer.has_pending(now)
}

/// Somebody is absent and has work that nobody comes for: one that sleeps is sent there, or the
/// `mover`, who is present and has made dispatches since the last look.
fn call_for_relief(shared: &Shared, mover: Option<&Peer>) {
    shared.idle.published();
    if shared.idle.has_sleepers() {
        return shared.send_searcher();
    }
    if let Some(peer) = mover {
        peer.duty.call();
    }
}
