//! The table: see `owner.rs`.
//!
//! A few thousand entries, found by the lock's address; where they are full, a lock goes unnoted
//! and is not reported. No lock and no allocation, so that what is counted and timed in debug
//! builds stays what it is.

use std::cell::Cell;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};

use raddle_base::context::{self, Place};
use raddle_base::wait::WaitSite;

const ENTRIES: usize = 4096;
/// How far from its place an entry may lie.
const REACH: usize = 32;
/// An entry that is being written.
const BUSY: usize = 1;

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

thread_local! {
    static THREAD: Cell<u64> = const { Cell::new(0) };
    static LAST: Cell<Option<(WaitSite, &'static Location<'static>)>> = const { Cell::new(None) };
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

/// Somebody took the lock at this address.
pub(crate) fn acquired(lock: usize, place: &'static Location<'static>) {
    let owner = owner();
    for entry in near(lock) {
        // Acquire: the fields are free, whoever had them before.
        if entry.lock.compare_exchange(0, BUSY, Acquire, Relaxed).is_ok() {
            // Relaxed: published by the store below.
            entry.owner.store(owner, Relaxed);
            entry.place.store(ptr::from_ref(place).cast_mut(), Relaxed);
            // Release: the fields belong to this lock now.
            return entry.lock.store(lock, Release);
        }
    }
}

/// Somebody released it: the caller's entry goes, else (a guard that was sent away) any.
pub(crate) fn released(lock: usize) {
    let owner = owner();
    // Relaxed: a wrong entry removed is a report less.
    let mine = near(lock).filter(|entry| entry.owner.load(Relaxed) == owner);
    for entry in mine.chain(near(lock)) {
        // Release: the fields are the next one's.
        if entry.lock.compare_exchange(lock, 0, Release, Relaxed).is_ok() {
            return;
        }
    }
}

/// Somebody is about to wait for it.
pub(crate) fn waits(lock: usize, site: WaitSite) {
    if context::place() != Place::Task {
        return;
    }
    let owner = owner();
    // Acquire: the fields belong to this lock.
    let held = near(lock)
        .find(|entry| entry.lock.load(Acquire) == lock && entry.owner.load(Relaxed) == owner);
    let Some(entry) = held else { return };
    // SAFETY: only static locations are stored, and the acquire load above saw one stored.
    let place: &'static Location<'static> = unsafe { &*entry.place.load(Relaxed) };
    LAST.set(Some((site, place)));
    let who = match context::task_id() {
        Some(id) => format!("task {id}"),
        None => format!("thread {:?}", std::thread::current().id()),
    };
    eprintln!(
        "raddle: {who} waits for {site}, which it holds itself since {place}: unless another part \
         of it lets go, this wait never ends"
    );
}

/// What this thread reported last: the wait, and where the lock was taken.
#[cfg(all(test, not(loom)))]
pub(crate) fn last_report() -> Option<(WaitSite, &'static Location<'static>)> {
    LAST.take()
}
