//! Blocking sections: a task that must block hands its worker's duties over first.
//!
//! [`block_in_place`] marks the worker as away and makes sure that somebody else is there: an
//! idle sibling, and a stand-in. A stand-in is a whole worker with a thread and a driver of its
//! own. It works while more workers are absent than stand-ins of lower rank can replace, and dozes
//! otherwise: it then serves only its own driver and pinned tasks, and passes free tasks on.
//! Whoever works takes the queues of those that are absent as a thief does, and reaps their drivers
//! and fires their timers on visits (see `steal`). What is pinned to a worker that is absent waits
//! until it is back.
//!
//! A worker whose task does not return is absent as well: the monitor notices it and does here what
//! a blocking section does by itself. Stand-ins can be stuck like workers, and are then stood in
//! for by those of higher rank.

use std::sync::Arc;

use raddle_base::context::{self, Place};
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use crate::sched::current;
use crate::sched::duty::Before;
use crate::sched::peer::Peer;
use crate::sched::shared::Shared;
use crate::sched::threads;

/// Runs `f`, which may block, on this thread, after handing the worker's other tasks over.
///
/// On a worker, in a task or on the stack of an actor, free tasks, timers and I/O of this worker go
/// on elsewhere: on idle siblings, or on a stand-in thread that is started when it is first needed
/// and kept. Tasks pinned to this worker wait until `f` returns. Elsewhere (a plain thread, a
/// blocking job) `f` just runs.
///
/// At most n + 2 sections of a runtime with n workers have a stand-in at the same time; in more of
/// them the worker's other tasks wait.
///
/// # Panics
///
/// A panic of `f` is passed on.
pub fn block_in_place<R>(f: impl FnOnce() -> R) -> R {
    if !matches!(context::place(), Place::Task | Place::Actor) {
        return f();
    }
    let entry = current::scheduler_and_index();
    let _away = entry.and_then(|(scheduler, index)| Away::begin(scheduler, index));
    let _place = context::enter(Place::Blocking);
    f()
}

/// While this lives, the worker is away.
struct Away {
    shared: Arc<Shared>,
    index: usize,
}

impl Away {
    /// `None` in a section of the same worker: a future that `f` blocks on may make another.
    fn begin(scheduler: *const (), index: usize) -> Option<Away> {
        // SAFETY: the entry of `current` is set while the worker holds an `Arc` of this pointer.
        let shared = unsafe {
            let shared = scheduler.cast::<Shared>();
            Arc::increment_strong_count(shared);
            Arc::from_raw(shared)
        };
        if shared.peers[index].duty.is_away() {
            return None;
        }
        if shared.peers[index].duty.leave() == Before::Present {
            begin_absence(&shared);
        }
        Some(Away { shared, index })
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        self.shared.peers[self.index].duty.come_back();
        self.shared.end_absence();
    }
}

/// One worker more does not do its duties; its word says so already.
fn begin_absence(shared: &Arc<Shared>) {
    // AcqRel: who sees the count also sees the mark.
    let rank = shared.absent.fetch_add(1, AcqRel);
    ensure_stand_in(shared, rank);
}

/// For the monitor: the worker does not move; its duties go to somebody else.
pub(crate) fn take_over(shared: &Arc<Shared>, index: usize) {
    let peer = &shared.peers[index];
    // Counted before the mark: the owner may heed the mark, and end its absence, at once.
    // AcqRel: as in `begin_absence`.
    let rank = shared.absent.fetch_add(1, AcqRel);
    if !peer.duty.mark_stuck() {
        return shared.end_absence();
    }
    peer.counters.rescues.add(1);
    ensure_stand_in(shared, rank);
    // The second half of the protocol of `duty`: a worker that sleeps is not stuck.
    shared.idle.published();
    if !peer.sleep.is_awake() {
        take_back(shared, peer);
    }
}

/// For the monitor: the worker sleeps, so it is not stuck.
pub(crate) fn take_back(shared: &Shared, peer: &Peer) {
    if peer.duty.take_back() {
        shared.end_absence();
    }
}

/// Whether there is a stand-in for each absent worker.
pub(crate) fn is_left(shared: &Shared) -> bool {
    // Acquire: as in `ensure_stand_in`.
    shared.stand_ins.load(Acquire) >= shared.absent.load(Acquire)
}

/// Makes sure that stand-in number `rank` has a thread and is awake.
fn ensure_stand_in(shared: &Arc<Shared>, rank: usize) {
    let index = shared.config.workers + rank;
    if index >= shared.peers.len() {
        return;
    }
    // Acquire: pairs with the release of the count below.
    if shared.stand_ins.load(Acquire) > rank {
        let peer = &shared.peers[index];
        shared.idle.published();
        if shared.idle.call(&peer.sleep) {
            peer.unpark();
        }
        return;
    }
    // The lock makes starts of stand-ins one after the other, so that ranks have no gap.
    let mut seats = shared.seats.lock();
    let next = shared.config.workers + shared.stand_ins.load(Relaxed);
    if next > index {
        return;
    }
    let Some(seat) = seats[next].take() else { return };
    // A thread that cannot be had leaves things as they are: the section runs without one.
    if threads::start(shared, next, seat, None).is_ok() {
        // Release (by AcqRel): who counts it as active also sees its seat taken.
        shared.stand_ins.fetch_add(1, AcqRel);
    }
}
