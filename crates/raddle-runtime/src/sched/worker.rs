//! The worker loop: look, choose, dispatch; and sleep when there is nothing.

use std::cell::Cell;
use std::io;
use std::sync::Arc;

use raddle_base::blocks;
use raddle_base::clock::Instant;
use raddle_base::doorbell::Doorbell;
use raddle_base::hooks;
use raddle_base::random::Rng;
use raddle_base::shim::hint;

use crate::sched::current;
use crate::sched::hold::Hold;
use crate::sched::idle::Awake;
use crate::sched::pace::Pace;
use crate::sched::park::Driver;
use crate::sched::peer::Peer;
use crate::sched::post::Watch;
use crate::sched::probe::Stretch;
use crate::sched::service::Class;
use crate::sched::shared::{Seat, Shared};
use crate::sched::sides::Sides;
use crate::task::{self, Runnable, Step};
use crate::time;

/// Completions handled in one look, so that a flood of them does not keep tasks waiting.
const LOOK_MAX: usize = 256;
/// Timers fired in one look.
const FIRE_MAX: usize = 256;

/// A worker, on its own thread.
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) index: usize,
    pub(crate) sides: Sides,
    driver: Box<dyn Driver>,
    pace: Pace,
    hold: Hold,
    stretch: Stretch,
    /// Phase 3 has been noticed: it is no reason to stay awake any more.
    pub(crate) draining: Cell<bool>,
    rng: Cell<Rng>,
    pub(crate) watch: Watch,
}

impl Worker {
    /// Makes the worker and its driver, on the thread that will run it.
    pub(crate) fn new(shared: Arc<Shared>, index: usize, seat: Seat) -> io::Result<Worker> {
        let (driver, remote) = shared.drivers.make(index, &shared.blocking)?;
        // The seat is taken once, so the cell is empty.
        let _ = shared.peers[index].remote.set(remote);
        Ok(Worker {
            index,
            sides: Sides::new(
                seat.rotating,
                seat.served,
                shared.config.slot_runs,
                shared.config.metrics,
            ),
            driver,
            pace: Pace::new(shared.config.service_target),
            hold: Hold::new(shared.config.service_target),
            stretch: Stretch::new(shared.config.metrics),
            draining: Cell::new(false),
            rng: Cell::new(Rng::from_entropy()),
            watch: Watch::new(),
            shared,
        })
    }

    #[inline]
    pub(crate) fn peer(&self) -> &Peer {
        &self.shared.peers[self.index]
    }

    pub(crate) fn driver(&self) -> &dyn Driver {
        &*self.driver
    }

    /// Runs tasks until the runtime's phase says that they are to be cancelled.
    pub(crate) fn run(&self) {
        let (peer, doorbell) = (self.peer(), self.driver.doorbell());
        loop {
            if peer.duty.calls() {
                hint::cold_path();
                if self.heed(peer) {
                    return;
                }
            }
            self.look(peer, doorbell);
            if !self.turn(peer) {
                self.find(peer);
            }
        }
    }

    /// Somebody wants this worker to look at more than its work; true if tasks are to be cancelled.
    #[cold]
    pub(crate) fn heed(&self, peer: &Peer) -> bool {
        self.shared.check_fork();
        if peer.duty.heed() {
            self.shared.end_absence();
        }
        self.pace.wake();
        self.relieve(peer);
        self.shared.phase.is_cancelling()
    }

    /// Polls the task whose turn it is; false if there is none.
    #[inline(always)]
    fn turn(&self, peer: &Peer) -> bool {
        if self.sides.has_pinned() {
            hint::cold_path();
            return match self.sides.next_of_both(peer) {
                Some(task) => {
                    self.dispatch(peer, task);
                    true
                }
                None => false,
            };
        }
        let Some(task) = self.sides.next_free(peer) else { return false };
        peer.begins(&task);
        if let Step::Requeue(task) = task.run(self.index as u32) {
            self.sides.push_again_free(peer, task);
        }
        true
    }

    /// Everything that must not wait for the tasks at hand: a few loads when there is nothing.
    // Always: the loop is one function, and this is a third of it.
    #[inline(always)]
    pub(crate) fn look(&self, peer: &Peer, doorbell: &Doorbell) {
        self.look_around(peer, doorbell, true);
    }

    /// As [`look`](Self::look), for a stand-in, which leaves what foreign threads have spawned to
    /// the workers unless it is `needed`.
    #[inline(always)]
    pub(crate) fn look_around(&self, peer: &Peer, doorbell: &Doorbell, needed: bool) {
        hooks::point(hooks::LOOK);
        if peer.has_mail() {
            self.take_inbox(peer);
        }
        if needed && !self.shared.injector.is_empty() {
            self.take_injected(peer);
        }
        if doorbell.rung() {
            self.hold_or_serve(peer);
        }
        if doorbell.is_owed() || peer.timers.is_armed() {
            hint::cold_path();
            // Counted here and not behind a call: this is the way of each dispatch while a timer
            // is armed.
            let due = self.pace.tick();
            if due || doorbell.prepared() != 0 {
                self.mind(peer, doorbell, due);
            }
        }
        hooks::point(hooks::LOOKED);
    }

    /// Polls one task and does what follows.
    pub(crate) fn dispatch(&self, peer: &Peer, task: Runnable) {
        peer.begins(&task);
        if let Step::Requeue(task) = task.run(self.index as u32) {
            self.sides.push_again(peer, task);
        }
    }

    #[cold]
    fn take_inbox(&self, peer: &Peer) {
        // Before the tasks: what is noted is pushed later.
        let stamp = peer.service.stamp.take();
        let free = peer.inbox.take_all();
        peer.counters.served.add(free.len() as u64);
        self.sides.serve_stamped(peer, free, stamp);
        let pinned = peer.pinned_inbox.take_all();
        peer.counters.served.add(pinned.len() as u64);
        self.sides.serve_pinned(pinned, stamp);
        self.share_served();
    }

    /// Takes this worker's share of what foreign threads have spawned.
    #[cold]
    fn take_injected(&self, peer: &Peer) {
        hooks::point(hooks::INJECTOR);
        let share = self.shared.injector.len().div_ceil(self.shared.active()).min(LOOK_MAX);
        let stamp = self.shared.injected.take();
        let tasks = self.shared.injector.pop_batch(share);
        peer.counters.served.add(tasks.len() as u64);
        self.sides.serve_stamped(peer, tasks, stamp);
        self.share_served();
    }

    /// Lets the driver handle completions; the tasks they wake are served.
    #[cold]
    fn serve_driver(&self, peer: &Peer) {
        peer.counters.looks.add(1);
        hooks::point(hooks::DRIVER);
        self.hold.end();
        self.in_service(|| self.driver.look(LOOK_MAX));
        self.share_served();
    }

    /// Completions go behind the served tasks that wait already, and prepared operations go to
    /// the kernel together: the driver may wait a little while such tasks run.
    #[cold]
    fn hold_or_serve(&self, peer: &Peer) {
        let now = || {
            peer.counters.clock_reads.add(1);
            Instant::now()
        };
        if !self.sides.has_served_somewhere() || !self.hold.goes_on(now) {
            self.serve_driver(peer);
        }
    }

    /// Something is prepared: submits. The clock is due: reads it, if a timer is armed or the
    /// driver must be asked, and does what is due by it.
    #[cold]
    fn mind(&self, peer: &Peer, doorbell: &Doorbell, due: bool) {
        if doorbell.prepared() != 0 && !doorbell.rung() {
            self.hold_or_serve(peer);
        }
        if !due {
            return;
        }
        if doorbell.is_polled() || peer.timers.is_armed() {
            self.read_clock(peer);
        } else {
            self.pace.wake();
        }
    }

    #[cold]
    fn read_clock(&self, peer: &Peer) {
        peer.counters.clock_reads.add(1);
        let (now, dispatches) = (Instant::now(), peer.counters.dispatches.get());
        self.pace.restart(now, dispatches);
        self.stretch.clock(now, dispatches, &peer.service);
        self.shared.ticks.look(now);
        self.in_service_of(Class::Timer, || peer.timers.fire(now, FIRE_MAX));
        if self.driver.doorbell().is_polled() && self.pace.poll_is_due(now) {
            peer.counters.looks.add(1);
            hooks::point(hooks::DRIVER);
            self.in_service(|| self.driver.look(LOOK_MAX));
        }
        self.share_served();
    }

    /// Tasks woken during `f`, by a driver, go to the served queue.
    pub(crate) fn in_service<R>(&self, f: impl FnOnce() -> R) -> R {
        self.in_service_of(Class::Io, f)
    }

    /// As [`in_service`](Self::in_service), with what wakes them.
    pub(crate) fn in_service_of<R>(&self, class: Class, f: impl FnOnce() -> R) -> R {
        self.sides.in_service.set(Some(class));
        let result = f();
        self.sides.in_service.set(None);
        result
    }

    /// Blocks in the driver until there is something to do, or until `deadline`.
    fn park(&self, peer: &Peer, deadline: Option<Instant>) {
        peer.counters.parks.add(1);
        hooks::point(hooks::PARK);
        self.hold.end();
        let dispatches = peer.counters.dispatches.get();
        self.stretch.sleeps(dispatches, &peer.service);
        self.in_service(|| self.driver.park(deadline));
        self.shared.ticks.look(self.stretch.wakes(dispatches));
        self.pace.wake();
    }

    /// There may be something to do: a watcher then leaves its post. More than one task was served
    /// at once: an idle sibling may take some.
    pub(crate) fn share_served(&self) {
        if self.watch.on_post.get() && !self.sides.is_empty(self.peer()) {
            self.leave_post();
        }
        if !self.shared.is_alone() && self.sides.has_served_to_share() {
            self.shared.notify_any();
        }
    }

    /// There is nothing here: steals, or sleeps.
    #[cold]
    pub(crate) fn find(&self, peer: &Peer) {
        self.visit_away();
        let mut searching = false;
        if !self.shared.is_alone() {
            searching = self.shared.idle.begin_search(self.shared.active());
            if searching && self.search(peer) {
                return;
            }
        }
        self.sleep(peer, searching, None);
    }

    /// Blocks until `limit`, or until there is something to do.
    pub(crate) fn sleep_until(&self, peer: &Peer, limit: Instant) {
        self.sleep(peer, false, Some(limit));
    }

    /// Looks through the other workers' queues; true with something to run. The caller counts as
    /// searching, and no more after a find.
    pub(crate) fn search(&self, peer: &Peer) -> bool {
        let found = self.steal(peer);
        if found {
            self.leave_post();
        }
        if found && self.shared.idle.end_search() {
            self.shared.notify_any();
        }
        found
    }

    /// Looks for work for as long as the settings say; true if there is some.
    #[cold]
    fn spins(&self, peer: &Peer) -> bool {
        self.stretch.sleeps(peer.counters.dispatches.get(), &peer.service);
        // Two clock readings a loop at least, by a worker that has nothing else to do.
        let until = Instant::now() + self.shared.config.spin_before_park;
        loop {
            if self.driver.doorbell().is_polled() {
                self.in_service(|| self.driver.look(LOOK_MAX));
            }
            let due = peer.timers.next().is_some_and(|at| at <= Instant::now());
            if due || peer.duty.calls() || self.anything(peer) {
                self.pace.wake();
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            hint::spin_loop();
        }
    }

    /// Blocks in the driver until there is something to do, or until `limit`.
    pub(crate) fn sleep(&self, peer: &Peer, searching: bool, limit: Option<Instant>) {
        if !self.shared.config.spin_before_park.is_zero() && self.spins(peer) {
            if searching && self.shared.idle.end_search() && self.any_stealable() {
                self.shared.notify_any();
            }
            return;
        }
        self.shared.idle.fall_asleep(&peer.sleep, searching);
        if !self.anything(peer) {
            self.park(peer, earlier(earlier(peer.timers.next(), limit), self.watch_limit()));
        }
        let awake = self.shared.idle.awake(&peer.sleep);
        self.shared.rest.worker_wakes();
        match awake {
            Awake::Own => {}
            Awake::Searching => {
                // Sent for somebody's work: look for it, and let the count go either way.
                if !self.search(peer) && self.shared.idle.end_search() && self.any_stealable() {
                    self.shared.notify_any();
                }
            }
        }
        self.watch_over(peer);
        self.share_served();
    }

    /// As `sleep`, for a stand-in that is not needed: it can be called, but not sent to search.
    /// `needed` is part of the last look: whoever goes away publishes that before it calls.
    pub(crate) fn doze(&self, peer: &Peer, needed: impl Fn() -> bool) {
        self.leave_post();
        self.shared.idle.doze(&peer.sleep);
        if !self.anything_own(peer) && !needed() {
            self.park(peer, peer.timers.next());
        }
        let Awake::Own = self.shared.idle.awake(&peer.sleep) else {
            unreachable!("a dozing stand-in was sent to search")
        };
        self.shared.rest.worker_wakes();
    }

    /// The last look before blocking: is there work in any place it may come from?
    fn anything(&self, peer: &Peer) -> bool {
        self.anything_own(peer)
            || !self.shared.injector.is_empty()
            || (!self.shared.is_alone() && self.any_stealable())
    }

    pub(crate) fn anything_own(&self, peer: &Peer) -> bool {
        !self.sides.is_empty(peer)
            || !peer.inbox.is_empty()
            || !peer.pinned_inbox.is_empty()
            || self.driver.doorbell().rung()
            || peer.duty.is_stuck()
            || (self.shared.phase.is_cancelling() && !self.draining.get())
    }

    /// A number below `n` from this worker's own generator.
    pub(crate) fn random_below(&self, n: u32) -> u32 {
        let mut rng = self.rng.replace(Rng::new(0));
        let number = rng.below(n);
        self.rng.set(rng);
        number
    }

    /// Makes this thread the worker, with its driver and timers, while `f` runs.
    pub(crate) fn entered<R>(&self, f: impl FnOnce(&Worker) -> R) -> R {
        let _timers = time::current::install(&self.peer().timers);
        let caching = blocks::cache();
        // SAFETY: the word lies in the runtime, which the worker keeps alive, and the guard ends in
        // this call; the function sets a flag.
        let telling = unsafe { self.peer().duty.call_in_child() };
        let polling = task::enter_worker();
        let driver = self.driver.install();
        let entry = current::enter(self.shared.address(), self.index, &self.sides);
        let result = f(self);
        drop(entry);
        drop(driver);
        drop(polling);
        drop(telling);
        drop(caching);
        result
    }
}

/// The earlier of two deadlines.
fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
