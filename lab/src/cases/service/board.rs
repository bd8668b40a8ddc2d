//! What the parts of a trial tell one another: stamps, counts and flags.
//!
//! Every stamp has one writer for its trigger and one for its poll. The thread that triggers reads
//! polls only after all of them have been counted as done.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The stamps of a trial, in ns since it began, and what its parts wait for.
pub(super) struct Board {
    began: Instant,
    pub(super) io: Kind,
    pub(super) remote: Kind,
    pub(super) timer: Kind,
    /// Waits that have returned pending for the first time.
    pub(super) armed: Tally,
    /// Tasks of the backlog that have been polled.
    pub(super) running: Tally,
    /// Events that have been seen, and tasks of the backlog that have ended.
    pub(super) done: Tally,
    stop: AtomicBool,
    /// Completed bodies of each task of the backlog.
    yields: Vec<Yields>,
    /// What must not be dropped before the trial is over.
    kept: Mutex<Vec<Box<dyn Any + Send>>>,
}

/// On cache lines of its own: its task counts, and nobody else writes beside it.
#[derive(Default)]
#[repr(align(128))]
struct Yields(AtomicU64);

impl Board {
    pub(super) fn new(events: usize, backlog: usize) -> Board {
        Board {
            began: Instant::now(),
            io: Kind::new(events),
            remote: Kind::new(events),
            timer: Kind::new(events),
            armed: Tally::default(),
            running: Tally::default(),
            done: Tally::default(),
            stop: AtomicBool::new(false),
            yields: (0..backlog).map(|_| Yields::default()).collect(),
            kept: Mutex::default(),
        }
    }

    /// Keeps something to the end, so that its destructor is no part of what is measured.
    pub(super) fn keep(&self, thing: Box<dyn Any + Send>) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(thing);
    }

    /// ns since the trial began.
    #[inline]
    pub(super) fn now(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    pub(super) fn stop(&self) {
        // Relaxed: a flag alone; what the backlog did is ordered by `done`.
        self.stop.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        // Relaxed: as above.
        self.stop.load(Ordering::Relaxed)
    }

    /// One more body of a task of the backlog, which alone writes its count.
    #[inline]
    pub(super) fn note_yield(&self, task: usize, count: u64) {
        // Relaxed: a statistic.
        self.yields[task].0.store(count, Ordering::Relaxed);
    }

    pub(super) fn yields(&self) -> u64 {
        // Relaxed: a statistic.
        self.yields.iter().map(|one| one.0.load(Ordering::Relaxed)).sum()
    }
}

/// The events of one kind.
pub(super) struct Kind(Vec<Mark>);

#[derive(Default)]
struct Mark {
    due: AtomicU64,
    seen: AtomicU64,
}

impl Kind {
    fn new(events: usize) -> Kind {
        Kind((0..events).map(|_| Mark::default()).collect())
    }

    /// The event happens now, or is due then.
    pub(super) fn due(&self, event: usize, at: u64) {
        // Relaxed: read by the judge only, after `done`.
        self.0[event].due.store(at, Ordering::Relaxed);
    }

    /// The poll that found it began then.
    pub(super) fn seen(&self, event: usize, at: u64) {
        // Relaxed: as above.
        self.0[event].seen.store(at, Ordering::Relaxed);
    }

    /// From each event to its poll, in µs: nothing if it happened in the middle of the poll that
    /// found it.
    pub(super) fn waits(&self) -> Vec<f64> {
        let wait = |(due, seen): (u64, u64)| seen.saturating_sub(due) as f64 / 1e3;
        self.stamps().map(wait).collect()
    }

    /// From each deadline to its poll, in µs.
    ///
    /// # Errors
    ///
    /// A poll found it before it was due, or never.
    pub(super) fn lateness(&self) -> Result<Vec<f64>, String> {
        let late = |(due, seen): (u64, u64)| {
            let early = || format!("early: due at {due} ns, seen at {seen} ns");
            seen.checked_sub(due).map(|late| late as f64 / 1e3).ok_or_else(early)
        };
        self.stamps().map(late).collect()
    }

    fn stamps(&self) -> impl Iterator<Item = (u64, u64)> {
        // Relaxed: ordered by `done`.
        let load = |stamp: &AtomicU64| stamp.load(Ordering::Relaxed);
        self.0.iter().map(move |mark| (load(&mark.due), load(&mark.seen)))
    }
}

/// A count that others wait for.
#[derive(Default)]
pub(super) struct Tally(AtomicUsize);

impl Tally {
    pub(super) fn add(&self, count: usize) {
        // AcqRel: what was stamped before is visible to whoever sees the count.
        self.0.fetch_add(count, Ordering::AcqRel);
    }

    pub(super) fn get(&self) -> usize {
        // Acquire: pairs with `add`.
        self.0.load(Ordering::Acquire)
    }

    /// Looks every 50 µs until the count is there.
    ///
    /// # Errors
    ///
    /// It is not there after 2 s.
    pub(super) fn wait_for(&self, what: &str, count: usize) -> Result<(), String> {
        let began = Instant::now();
        while self.get() < count {
            if began.elapsed() > Duration::from_secs(2) {
                return Err(format!("{what}: {} of {count} after 2 s", self.get()));
            }
            std::thread::sleep(Duration::from_micros(50));
        }
        Ok(())
    }
}
