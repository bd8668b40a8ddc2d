//! The owner's side of a worker: free and pinned queues, and the order in which they are served.
//!
//! Each side, free and pinned, has a slot, a rotating queue and a served queue. The sides
//! alternate while both have work; on a side the slot comes first, at most as many times in a row
//! as the settings say (3), and then served and rotating alternate. So the k-th served task waits
//! for at most 2k dispatches, 8k while slots are refilled, and 16k while both sides are busy as
//! well.

use std::cell::{Cell, UnsafeCell};

use raddle_base::fifo::Fifo;
use raddle_base::hooks;
use raddle_base::shim::hint;

use crate::sched::peer::Peer;
use crate::sched::probe::Probe;
use crate::sched::queue::RunQueue;
use crate::sched::service::{Class, Stamped};
use crate::task::Runnable;

/// Queues and turns of one worker. Used by its own thread only.
pub(crate) struct Sides {
    rotating: RunQueue,
    served: RunQueue,
    /// Something was put into the served queue since it was last found empty: spares a look at
    /// its shared words in the common case.
    served_any: Cell<bool>,
    free_turns: Turns,
    pinned: Pinned,
    pinned_next: Cell<bool>,
    /// What has the tasks woken that wake now, if it is not a task.
    pub(crate) in_service: Cell<Option<Class>>,
    /// Tasks that wake now go to the tail of the rotating queue.
    tail_wakes: Cell<bool>,
    probe: Probe,
}

/// The pinned side: nobody else touches it, so nothing in it is atomic.
struct Pinned {
    /// Tasks in all three.
    count: Cell<usize>,
    /// Of these, those in the slot and in the served queue: none, mostly.
    preferred: Cell<usize>,
    slot: Cell<Option<Runnable>>,
    rotating: Line,
    served: Line,
    turns: Turns,
}

/// What a side has been given lately.
struct Turns {
    /// Runs from the slot in a row before the queues get a turn. Go and tokio learned that a slot
    /// without a limit starves the queue.
    slot_limit: u32,
    slot_runs: Cell<u32>,
    served_next: Cell<bool>,
}

impl Turns {
    fn new(slot_limit: u32) -> Self {
        Turns { slot_limit, slot_runs: Cell::new(0), served_next: Cell::new(false) }
    }

    /// Whether the slot may go first once more.
    #[inline]
    fn slot_may_run(&self) -> bool {
        self.slot_runs.get() < self.slot_limit
    }

    #[inline]
    fn ran_slot(&self) {
        self.slot_runs.set(self.slot_runs.get() + 1);
    }

    /// The queues have their turn; true if the served one goes first.
    #[inline]
    fn queues(&self) -> bool {
        self.slot_runs.set(0);
        let served = !self.served_next.get();
        self.served_next.set(served);
        served
    }

    /// It was the turn of the served queue, and it was empty: a task that is served next does not
    /// wait for one more dispatch.
    #[inline]
    fn served_was_empty(&self) {
        self.served_next.set(false);
    }

    /// Whether the rotating queue goes first at the next turn.
    fn rotating_next(&self) -> bool {
        self.served_next.get()
    }
}

/// What a push owes to sleeping siblings.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Pushed {
    /// Nothing: only this worker can or should run it.
    Quiet,
    /// Somebody else may take it.
    Stealable,
}

impl Sides {
    pub(crate) fn new(
        rotating: RunQueue,
        served: RunQueue,
        slot_limit: u32,
        sampling: bool,
    ) -> Self {
        Sides {
            rotating,
            served,
            served_any: Cell::new(false),
            free_turns: Turns::new(slot_limit),
            pinned: Pinned::new(slot_limit),
            pinned_next: Cell::new(false),
            in_service: Cell::new(None),
            tail_wakes: Cell::new(false),
            probe: Probe::new(sampling),
        }
    }

    /// A free task has been spawned here.
    #[inline]
    pub(crate) fn push_spawned(&self, peer: &Peer, task: Runnable) {
        self.rotating.push(&peer.rotating, task);
    }

    /// A pinned task of this worker has been spawned here.
    pub(crate) fn push_pinned(&self, task: Runnable) {
        self.pinned.push(task);
    }

    /// Free tasks woken during `f` go to the tail of the rotating queue, past the slot.
    pub(crate) fn to_the_tail(&self, f: impl FnOnce()) {
        struct Restore<'a>(&'a Cell<bool>, bool);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }
        let _restore = Restore(&self.tail_wakes, self.tail_wakes.replace(true));
        f();
    }

    /// A task has been woken on this thread, which is the home of a pinned one.
    #[inline]
    pub(crate) fn wake(&self, peer: &Peer, task: Runnable) -> Pushed {
        if let Some(class) = self.in_service.get() {
            self.wake_in_service(peer, task, class);
            return Pushed::Quiet;
        }
        if task.header().state.is_pinned() {
            self.pinned.wake(task);
            return Pushed::Quiet;
        }
        if self.tail_wakes.get() {
            self.rotating.push(&peer.rotating, task);
            return Pushed::Stealable;
        }
        match peer.put_slot(task) {
            None => Pushed::Quiet,
            Some(old) => {
                self.rotating.push(&peer.rotating, old);
                Pushed::Stealable
            }
        }
    }

    /// A task has been woken by what is not a task.
    fn wake_in_service(&self, peer: &Peer, task: Runnable, class: Class) {
        self.probe.served(&task, class);
        if task.header().state.is_pinned() {
            self.pinned.push_served(task);
        } else {
            self.push_served(peer, task);
        }
    }

    /// A task has yielded, or was woken while it ran.
    #[inline]
    pub(crate) fn push_again(&self, peer: &Peer, task: Runnable) {
        if task.header().state.is_pinned() {
            return self.pinned.push(task);
        }
        self.push_again_free(peer, task);
    }

    /// As [`push_again`](Self::push_again), for a task that is known to be free.
    #[inline]
    pub(crate) fn push_again_free(&self, peer: &Peer, task: Runnable) {
        self.rotating.push(&peer.rotating, task);
    }

    /// Whether a pinned task waits here.
    #[inline]
    pub(crate) fn has_pinned(&self) -> bool {
        !self.pinned.is_empty()
    }

    /// Tasks from somebody's inbox or the injector.
    pub(crate) fn serve(&self, peer: &Peer, tasks: Fifo<Runnable>) {
        self.serve_stamped(peer, tasks, None);
    }

    /// As [`serve`](Self::serve); the stamp tells when one of the tasks was pushed.
    pub(crate) fn serve_stamped(&self, peer: &Peer, tasks: Fifo<Runnable>, stamp: Option<Stamped>) {
        for task in tasks {
            self.probe.received(&task, stamp);
            self.push_served(peer, task);
        }
    }

    /// A task that was woken by I/O, timers or another thread, or stolen as such.
    pub(crate) fn push_served(&self, peer: &Peer, task: Runnable) {
        self.served_any.set(true);
        self.served.push(&peer.served, task);
    }

    /// Takes from another worker's served queue; true with something to run.
    pub(crate) fn steal_served(&self, peer: &Peer, victim: &Peer) -> bool {
        let Some(task) = victim.served.steal(&self.served, &peer.served) else { return false };
        self.push_served(peer, task);
        hooks::point(hooks::STOLEN);
        true
    }

    /// Takes from another worker's rotating queue; true with something to run.
    pub(crate) fn steal_rotating(&self, peer: &Peer, victim: &Peer) -> bool {
        let Some(task) = victim.rotating.steal(&self.rotating, &peer.rotating) else {
            return false;
        };
        self.rotating.push(&peer.rotating, task);
        hooks::point(hooks::STOLEN);
        true
    }

    /// Whether a served task waits here for another dispatch than its own.
    pub(crate) fn has_served_to_share(&self) -> bool {
        self.has_served()
            && (self.served.has_more_than_one()
                || (self.free_turns.rotating_next() && !self.rotating.is_empty()))
    }

    /// Whether served tasks wait here.
    pub(crate) fn has_served(&self) -> bool {
        self.served_any.get() && !self.served.is_empty()
    }

    /// Whether served tasks wait on either side.
    pub(crate) fn has_served_somewhere(&self) -> bool {
        self.has_served() || self.pinned.served.has_some()
    }

    /// Pinned tasks from this worker's inbox; the stamp tells when one of them was pushed.
    pub(crate) fn serve_pinned(&self, tasks: Fifo<Runnable>, stamp: Option<Stamped>) {
        for task in tasks {
            self.probe.received(&task, stamp);
            self.pinned.push_served(task);
        }
    }

    /// The task whose turn it is.
    pub(crate) fn next(&self, peer: &Peer) -> Option<Runnable> {
        if self.has_pinned() { self.next_of_both(peer) } else { self.next_free(peer) }
    }

    /// The task whose turn it is, free or pinned, while a pinned one waits.
    // Always: a part of the loop, as its other half.
    #[inline(always)]
    pub(crate) fn next_of_both(&self, peer: &Peer) -> Option<Runnable> {
        let pinned_first = !self.pinned_next.get();
        self.pinned_next.set(pinned_first);
        if !pinned_first && let Some(task) = self.next_free(peer) {
            return Some(task);
        }
        self.next_pinned(peer)
    }

    #[inline(always)]
    fn next_pinned(&self, peer: &Peer) -> Option<Runnable> {
        let task = self.pinned.next()?;
        self.probe.taken(&task, &peer.service);
        Some(task)
    }

    /// The free task whose turn it is.
    #[inline(always)]
    pub(crate) fn next_free(&self, peer: &Peer) -> Option<Runnable> {
        if peer.has_slot() || self.served_any.get() {
            hint::cold_path();
            return self.next_of_three(peer);
        }
        self.rotating.pop(&peer.rotating)
    }

    /// Slot, served and rotating, at least two of which may have work.
    fn next_of_three(&self, peer: &Peer) -> Option<Runnable> {
        if self.free_turns.slot_may_run()
            && let Some(task) = peer.take_slot()
        {
            self.free_turns.ran_slot();
            return Some(task);
        }
        let task = if self.free_turns.queues() {
            self.pop_served(peer).or_else(|| self.rotating.pop(&peer.rotating))
        } else {
            self.rotating.pop(&peer.rotating).or_else(|| self.pop_served(peer))
        };
        // Only the slot may be left, past its limit.
        task.or_else(|| peer.take_slot())
    }

    #[inline]
    fn pop_served(&self, peer: &Peer) -> Option<Runnable> {
        if self.served_any.get() {
            return self.pop_some_served(peer);
        }
        self.free_turns.served_was_empty();
        None
    }

    // Not a part of its caller, whose usual way is another.
    #[inline(never)]
    fn pop_some_served(&self, peer: &Peer) -> Option<Runnable> {
        let task = self.served.pop(&peer.served);
        self.served_any.set(task.is_some());
        match &task {
            Some(task) => self.probe.taken(task, &peer.service),
            None => {
                self.free_turns.served_was_empty();
                self.probe.found_empty();
            }
        }
        task
    }

    /// Whether there is nothing to run here.
    pub(crate) fn is_empty(&self, peer: &Peer) -> bool {
        self.rotating.is_empty() && !self.has_served() && !peer.has_slot() && self.pinned.is_empty()
    }
}

impl Pinned {
    fn new(slot_limit: u32) -> Self {
        Pinned {
            count: Cell::new(0),
            preferred: Cell::new(0),
            slot: Cell::new(None),
            rotating: Line::default(),
            served: Line::default(),
            turns: Turns::new(slot_limit),
        }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    #[inline]
    fn add_one(&self) {
        self.count.set(self.count.get() + 1);
    }

    #[inline]
    fn push(&self, task: Runnable) {
        self.add_one();
        self.rotating.push_back(task);
    }

    fn push_served(&self, task: Runnable) {
        self.add_one();
        self.preferred.set(self.preferred.get() + 1);
        self.served.push_back(task);
    }

    fn wake(&self, task: Runnable) {
        self.add_one();
        if let Some(old) = self.slot.replace(Some(task)) {
            self.rotating.push_back(old);
        } else {
            self.preferred.set(self.preferred.get() + 1);
        }
    }

    #[inline]
    fn next(&self) -> Option<Runnable> {
        if self.is_empty() {
            return None;
        }
        self.count.set(self.count.get() - 1);
        if self.preferred.get() != 0 {
            return self.next_of_three();
        }
        // What the turns would come to with slot and served queue empty.
        self.turns.slot_runs.set(0);
        self.turns.served_was_empty();
        self.rotating.pop_front()
    }

    #[inline(never)]
    fn next_of_three(&self) -> Option<Runnable> {
        if self.turns.slot_may_run()
            && let Some(task) = self.take_slot()
        {
            self.turns.ran_slot();
            return Some(task);
        }
        let task = if self.turns.queues() {
            let served = self.pop_served();
            if served.is_none() {
                self.turns.served_was_empty();
            }
            served.or_else(|| self.rotating.pop_front())
        } else {
            let rotating = self.rotating.pop_front();
            rotating.or_else(|| self.pop_served())
        };
        task.or_else(|| self.take_slot())
    }

    fn take_slot(&self) -> Option<Runnable> {
        self.preferred(self.slot.take())
    }

    fn pop_served(&self) -> Option<Runnable> {
        self.preferred(self.served.pop_front())
    }

    fn preferred(&self, task: Option<Runnable>) -> Option<Runnable> {
        if task.is_some() {
            self.preferred.set(self.preferred.get() - 1);
        }
        task
    }
}

/// A queue of this thread's. No code of anybody else's runs in its methods, and none gives out a
/// reference: so nothing need be counted to know that there is one at a time.
#[derive(Default)]
struct Line(UnsafeCell<Fifo<Runnable>>);

impl Line {
    #[inline]
    fn push_back(&self, task: Runnable) {
        // SAFETY: one thread (the cell is not `Sync`), and one reference, which ends here.
        unsafe { &mut *self.0.get() }.push_back(task);
    }

    fn has_some(&self) -> bool {
        // SAFETY: as in `push_back`.
        !unsafe { &*self.0.get() }.is_empty()
    }

    #[inline]
    fn pop_front(&self) -> Option<Runnable> {
        // SAFETY: as in `push_back`.
        unsafe { &mut *self.0.get() }.pop_front()
    }
}

#[cfg(test)]
#[path = "tests/sides.rs"]
mod tests;
