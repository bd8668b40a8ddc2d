//! The table: see `owner.rs`.
//!
//! A few thousand entries, found by the lock's address; where they are full, a lock goes unnoted
//! and is not reported. No lock and no allocation, so that what is counted and timed in debug
//! builds stays what it is.

use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU64;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};
use std::thread::ThreadId;

use raddle_base::context::{self, Place};
use raddle_base::wait::{WaitKind, WaitSite};

const ENTRIES: usize = 1 << 14;
/// How far from its place an entry may lie.
const REACH: usize = 32;
/// An entry that is being written.
const BUSY: usize = 1;
/// So many places are told of, each once.
const TOLD: usize = 64;

#[derive(Debug)]
struct Entry {
    /// The lock's address; 0 free.
    lock: AtomicUsize,
    owner: AtomicU64,
    place: AtomicPtr<Location<'static>>,
}

static TABLE: [Entry; ENTRIES] = [const {
    Entry {
        lock: AtomicUsize::new(0),
        owner: AtomicU64::new(0),
        place: AtomicPtr::new(ptr::null_mut()),
    }
}; ENTRIES];

raddle_base::local! {
    static THREAD: Cell<u64> = const { Cell::new(0) };
    static LAST: Cell<Option<Report>> = const { Cell::new(None) };
}

/// Task ids are even here, threads odd.
fn owner() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if let Some(id) = context::task_id() {
        return id.get() << 1;
    }
    THREAD.with(|thread| {
        if thread.get() == 0 {
            // Relaxed: numbers need only differ.
            thread.set(NEXT.fetch_add(2, Relaxed));
        }
        thread.get()
    })
}

fn near(lock: usize) -> impl Iterator<Item = &'static Entry> {
    let start = (lock >> 3).wrapping_mul(0x9E37_79B9) >> 7;
    (0..REACH).map(move |i| &TABLE[(start + i) % ENTRIES])
}

/// Goes with what is held, from hand to hand, and takes the note away with it.
#[derive(Debug)]
pub(crate) struct Held(Option<&'static Entry>);

impl Held {
    /// Nothing is noted.
    pub(crate) const NOTHING: Held = Held(None);

    /// The caller took the lock at this address.
    pub(crate) fn new(lock: usize, place: &'static Location<'static>) -> Self {
        let owner = owner();
        // Acquire: the fields are free, whoever had them before.
        let free = |entry: &&Entry| entry.lock.compare_exchange(0, BUSY, Acquire, Relaxed).is_ok();
        let entry = near(lock).find(free);
        if let Some(entry) = entry {
            // Relaxed: published by the store below.
            entry.owner.store(owner, Relaxed);
            entry.place.store(ptr::from_ref(place).cast_mut(), Relaxed);
            // Release: the fields belong to this lock now.
            entry.lock.store(lock, Release);
        }
        Held(entry)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(entry) = self.0 {
            // Release: the fields are the next one's.
            entry.lock.store(0, Release);
        }
    }
}

/// Somebody is about to wait for it, who may have taken it `entitled` times already.
pub(crate) fn waits(lock: usize, site: WaitSite, entitled: usize) {
    if context::place() != Place::Task {
        return;
    }
    let owner = owner();
    let mut places = [None; 2];
    let mut holds = 0;
    for entry in near(lock) {
        // Acquire: the fields belong to this lock. Relaxed: they are read after that.
        if entry.lock.load(Acquire) == lock && entry.owner.load(Relaxed) == owner {
            // SAFETY: only static locations are stored, and the acquire load above saw one stored.
            let place: &'static Location<'static> = unsafe { &*entry.place.load(Relaxed) };
            if let Some(free) = places.get_mut(holds) {
                *free = Some(place);
            }
            holds += 1;
        }
    }
    if holds > entitled {
        let who = context::task_id().ok_or_else(|| std::thread::current().id());
        tell(Report { who, site, places });
    }
}

fn tell(report: Report) {
    LAST.set(Some(report));
    if is_new(report.site.location) {
        eprintln!("raddle: {report}");
    }
}

/// Whether a place was never told of: a wait in a loop is one line and not thousands.
fn is_new(place: &'static Location<'static>) -> bool {
    static SEEN: [AtomicPtr<Location<'static>>; TOLD] =
        [const { AtomicPtr::new(ptr::null_mut()) }; TOLD];
    let place = ptr::from_ref(place).cast_mut();
    for seen in &SEEN {
        // Relaxed: the address is all there is.
        match seen.compare_exchange(ptr::null_mut(), place, Relaxed, Relaxed) {
            Ok(_) => return true,
            Err(known) if known == place => return false,
            Err(_) => {}
        }
    }
    false
}

/// One who waits for what it took itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report {
    who: Result<NonZeroU64, ThreadId>,
    /// The wait.
    pub(crate) site: WaitSite,
    /// Where the first two were taken that it has not released.
    pub(crate) places: [Option<&'static Location<'static>>; 2],
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.who {
            Ok(task) => write!(f, "task {task}")?,
            Err(thread) => write!(f, "thread {thread:?}")?,
        }
        let (took, ends) = match self.site.kind {
            WaitKind::Event => ("is at itself, since", "gets done with it"),
            _ => ("took itself and has not released, at", "has the guard and lets go"),
        };
        write!(f, " waits for {}, which it {took}", self.site)?;
        for (i, place) in self.places.iter().flatten().enumerate() {
            write!(f, "{} {place}", if i == 0 { "" } else { " and" })?;
        }
        write!(f, ": unless another part of it, or another task, {ends}, this wait never ends")
    }
}

/// What this thread reported last.
#[cfg(all(test, not(loom)))]
pub(crate) fn last_report() -> Option<Report> {
    LAST.take()
}
