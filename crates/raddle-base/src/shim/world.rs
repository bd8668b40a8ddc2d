//! A run of shuttle's: its clock, its sleepers, its threads. Compiled under `--cfg shuttle` only.
//!
//! Shuttle has neither time nor futexes, and a wait with a deadline that may end at any moment
//! would hide lost wakes: the sleeper would come back by itself. So a run has a clock of its own,
//! which stands still while any thread can go on. Once all of them sleep, it jumps to the earliest
//! deadline and wakes that sleeper; [`jumps`] tells how often. A test in which nothing waits for
//! time asserts that it never did: then each sleep was ended by a wake. With no deadline left to
//! jump to, shuttle reports the deadlock.
//!
//! All threads of a run share one real thread, so the bookkeeping lies in a real thread-local
//! that is never borrowed across a scheduling point. Real mutexes here are for `Sync` only.

pub mod threads;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Takes part in nothing yet; counts as going on.
const QUEUED: u8 = 0;
/// Counts as sleeping.
const ASLEEP: u8 = 1;
/// Woken by another thread; counts as going on.
const WOKEN: u8 = 2;
/// Woken by the clock; counts as going on.
const LATE: u8 = 3;

/// The run of this real thread.
struct World {
    nanos: u64,
    jumps: usize,
    seed: u64,
    /// Points of loops that threads have passed.
    passed: usize,
    /// Threads that can go on.
    awake: usize,
    /// Those that sleep with a deadline.
    timed: Vec<Arc<Place>>,
}

const NEW: World =
    World { nanos: 1_000_000, jumps: 0, seed: 0, passed: 0, awake: 1, timed: Vec::new() };

thread_local! {
    static WORLD: RefCell<World> = const { RefCell::new(NEW) };
}

fn with<R>(f: impl FnOnce(&mut World) -> R) -> R {
    WORLD.with_borrow_mut(f)
}

/// A run begins, with one thread.
pub(crate) fn begin() {
    with(|world| *world = NEW);
}

pub(crate) fn nanos() -> u64 {
    with(|world| world.nanos)
}

pub(crate) fn seed() -> u64 {
    with(|world| {
        world.seed = world.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        world.seed
    })
}

/// Points of loops between two at which a thread gives way.
const YIELD_EVERY: usize = 16;

pub(crate) fn is_time_to_yield() -> bool {
    with(|world| {
        world.passed += 1;
        world.passed.is_multiple_of(YIELD_EVERY)
    })
}

/// How often the clock has jumped in this run because nobody could go on.
pub fn jumps() -> usize {
    with(|world| world.jumps)
}

/// One thread less can go on: if it was the last one, time passes.
fn one_less() {
    let next = with(|world| {
        world.awake -= 1;
        if world.awake != 0 {
            return None;
        }
        let earliest = world.timed.iter().min_by_key(|place| place.deadline).cloned()?;
        let deadline = earliest.deadline?;
        world.nanos = world.nanos.max(deadline);
        world.jumps += 1;
        Some(earliest)
    });
    if let Some(place) = next {
        place.wake(LATE);
    }
}

fn one_more() {
    with(|world| world.awake += 1);
}

/// A thread's place in a line.
#[derive(Debug)]
pub(crate) struct Place {
    state: AtomicU8,
    /// In nanoseconds of the run's clock; the greatest number is never.
    deadline: Option<u64>,
    lock: shuttle::sync::Mutex<()>,
    woken: shuttle::sync::Condvar,
}

impl Place {
    fn is(&self, state: u8) -> bool {
        // Relaxed, in this file: shuttle runs one thread at a time, in one order for all.
        self.state.load(Relaxed) == state
    }

    /// Sleeps until woken or late; not at all if either has happened already.
    pub(crate) fn sleep(self: &Arc<Self>) {
        if !self.is(QUEUED) {
            return;
        }
        self.state.store(ASLEEP, Relaxed);
        if self.deadline.is_some_and(|at| at != u64::MAX) {
            with(|world| world.timed.push(Arc::clone(self)));
        }
        one_less();
        let mut guard = self.lock.lock().unwrap();
        while self.is(ASLEEP) {
            guard = self.woken.wait(guard).unwrap();
        }
    }

    fn wake(self: &Arc<Self>, how: u8) {
        let before = self.state.swap(how, Relaxed);
        if before != ASLEEP {
            return;
        }
        with(|world| {
            world.awake += 1;
            world.timed.retain(|place| !Arc::ptr_eq(place, self));
        });
        let _guard = self.lock.lock().unwrap();
        self.woken.notify_one();
    }
}

/// Those that wait for the same thing, in order.
#[derive(Debug, Default)]
pub(crate) struct Line(Mutex<VecDeque<Arc<Place>>>);

impl Line {
    pub(crate) const fn new() -> Self {
        Line(Mutex::new(VecDeque::new()))
    }

    fn places(&self) -> MutexGuard<'_, VecDeque<Arc<Place>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place at the end.
    pub(crate) fn enter(&self, deadline: Option<u64>) -> Arc<Place> {
        let place = Arc::new(Place {
            state: AtomicU8::new(QUEUED),
            deadline,
            lock: shuttle::sync::Mutex::new(()),
            woken: shuttle::sync::Condvar::new(),
        });
        self.places().push_back(Arc::clone(&place));
        place
    }

    /// Gives the place up, after a sleep or without one; true if the deadline ended the sleep.
    pub(crate) fn leave(&self, place: &Arc<Place>) -> bool {
        self.places().retain(|other| !Arc::ptr_eq(other, place));
        place.is(LATE)
    }

    /// Wakes the first one.
    pub(crate) fn wake_one(&self) {
        let first = self.places().pop_front();
        if let Some(place) = first {
            place.wake(WOKEN);
        }
    }

    /// Wakes all that wait now.
    pub(crate) fn wake_all(&self) {
        let all = std::mem::take(&mut *self.places());
        all.iter().for_each(|place| place.wake(WOKEN));
    }
}
