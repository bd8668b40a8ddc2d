//! The twin with hooks: armed points and recordings under one lock.
//!
//! Threads pass points all the time and tests arm few of them, so a point first loads how many
//! are armed or recorded at all.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;

use crate::shim::hint;

/// A point that a test has armed.
struct Armed {
    number: u64,
    name: &'static str,
    /// The name of the thread it is meant for, or all of them.
    thread: Option<String>,
    arrived: usize,
}

/// The points that a thread has passed.
struct Recorded {
    number: u64,
    thread: String,
    passed: Vec<&'static str>,
}

struct Table {
    latest: u64,
    armed: Vec<Armed>,
    recorded: Vec<Recorded>,
}

static TABLE: Mutex<Table> =
    Mutex::new(Table { latest: 0, armed: Vec::new(), recorded: Vec::new() });
static CHANGED: Condvar = Condvar::new();
/// Entries of the table: with none of them a point is passed without the lock.
static ENTRIES: AtomicUsize = AtomicUsize::new(0);

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(|poison| poison.into_inner())
}

impl Table {
    fn next(&mut self) -> u64 {
        self.latest += 1;
        self.latest
    }

    /// Numbers of entries are counted under the lock, and read without it.
    fn count(&self) {
        // Release: a thread that is told by other means that the point is armed sees it armed.
        ENTRIES.store(self.armed.len() + self.recorded.len(), Release);
    }

    fn armed(&mut self, number: u64) -> Option<&mut Armed> {
        self.armed.iter_mut().find(|armed| armed.number == number)
    }
}

/// A named point: waits here while a test has armed it for this thread.
pub fn point(name: &'static str) {
    hint::pass();
    // Acquire: pairs with the release in `count`.
    if ENTRIES.load(Acquire) != 0 {
        pass(name);
    }
}

#[cold]
fn pass(name: &'static str) {
    let thread = thread::current();
    let own = thread.name();
    let mut guard = table();
    for recorded in guard.recorded.iter_mut().filter(|it| own == Some(&it.thread)) {
        recorded.passed.push(name);
    }
    let meant = |it: &&mut Armed| {
        it.name == name && it.thread.as_deref().is_none_or(|thread| own == Some(thread))
    };
    let Some(armed) = guard.armed.iter_mut().find(meant) else { return };
    let number = armed.number;
    armed.arrived += 1;
    CHANGED.notify_all();
    while guard.armed(number).is_some() {
        guard = CHANGED.wait(guard).unwrap_or_else(|poison| poison.into_inner());
    }
}

/// Arms the point `name` for every thread until the returned guard is dropped.
pub fn arm(name: &'static str) -> Pause {
    enter(name, None)
}

/// Arms the point `name` for threads called `thread` until the returned guard is dropped.
pub fn arm_on(name: &'static str, thread: &str) -> Pause {
    enter(name, Some(thread.to_owned()))
}

fn enter(name: &'static str, thread: Option<String>) -> Pause {
    let mut table = table();
    let number = table.next();
    table.armed.push(Armed { number, name, thread, arrived: 0 });
    table.count();
    Pause { number }
}

/// An armed point. Dropping it lets every paused thread go on.
#[derive(Debug)]
#[must_use = "the point is let go as soon as this is dropped"]
pub struct Pause {
    number: u64,
}

impl Pause {
    /// Blocks until `count` threads have arrived at the point.
    pub fn wait_for(&self, count: usize) {
        let mut guard = table();
        while guard.armed(self.number).is_some_and(|armed| armed.arrived < count) {
            guard = CHANGED.wait(guard).unwrap_or_else(|poison| poison.into_inner());
        }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        let mut table = table();
        table.armed.retain(|armed| armed.number != self.number);
        table.count();
        CHANGED.notify_all();
    }
}

/// Records the points that threads called `thread` pass until the returned guard is dropped.
pub fn record(thread: &str) -> Recording {
    let mut table = table();
    let number = table.next();
    table.recorded.push(Recorded { number, thread: thread.to_owned(), passed: Vec::new() });
    table.count();
    Recording { number }
}

/// A recording that goes on.
#[derive(Debug)]
#[must_use = "the recording ends as soon as this is dropped"]
pub struct Recording {
    number: u64,
}

impl Recording {
    /// Takes what has been recorded since the last call.
    pub fn take(&self) -> Vec<&'static str> {
        let mut table = table();
        let ours = table.recorded.iter_mut().find(|it| it.number == self.number);
        ours.map(|it| std::mem::take(&mut it.passed)).unwrap_or_default()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let mut table = table();
        table.recorded.retain(|recorded| recorded.number != self.number);
        table.count();
    }
}
