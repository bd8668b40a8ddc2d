//! This thread's worker, if it is one.
//!
//! A waker runs on any thread and must find out whether it is on a worker of the task's own
//! runtime, and then reach that worker's queues. The entry is set for as long as a worker runs on
//! the thread, and guards nest: a runtime may be run inside a blocking job of another.
//!
//! Users' guards (of `Handle::enter`) may be dropped in any order, kept beyond the worker they were
//! made on, or forgotten. Each entry therefore has a number of its own, never used again on its
//! thread. A user's guard takes its entry back only while that is the current one; otherwise the
//! entry stays where it is, in other guards, and what it points at is kept for ever. A worker's
//! guard always restores what was before, so that no entry of a worker outlives its queues.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;

use crate::sched::sides::Sides;

/// What is said where a runtime is needed and there is none.
pub(crate) const NO_RUNTIME: &str = "this thread belongs to no raddle runtime; call this from a \
     task, inside Runtime::run or block_on, or after Handle::enter";

#[derive(Clone, Copy)]
struct Entry {
    scheduler: *const (),
    index: usize,
    sides: *const Sides,
    number: u64,
}

const NONE: Entry = Entry { scheduler: ptr::null(), index: 0, sides: ptr::null(), number: 0 };

raddle_base::local! {
    static CURRENT: Cell<Entry> = const { Cell::new(NONE) };
    /// The number of this thread's latest entry.
    static LATEST: Cell<u64> = const { Cell::new(0) };
}

/// Makes a new entry the current one; what was before, and the entry's number.
fn push(scheduler: *const (), index: usize, sides: *const Sides) -> (Entry, u64) {
    let number = LATEST.get() + 1;
    LATEST.set(number);
    (CURRENT.replace(Entry { scheduler, index, sides, number }), number)
}

/// Clears the entry on drop.
pub(crate) struct Guard<'a> {
    before: Entry,
    // Borrows the queues, so that they outlive the entry.
    _sides: &'a Sides,
}

/// Makes `sides` the queues of this thread, worker `index` of `scheduler`.
pub(crate) fn enter(scheduler: *const (), index: usize, sides: &Sides) -> Guard<'_> {
    let (before, _) = push(scheduler, index, sides);
    Guard { before, _sides: sides }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// Runs `f` with this thread's queues if it is a worker of `scheduler`.
#[inline]
pub(crate) fn with<R>(scheduler: *const (), f: impl FnOnce(usize, &Sides) -> R) -> Option<R> {
    let entry = CURRENT.get();
    if entry.scheduler != scheduler || entry.sides.is_null() {
        return None;
    }
    // SAFETY: set by `enter`, whose guard borrows the queues and clears the entry; guards are
    // local to the worker's loop and dropped in order.
    Some(f(entry.index, unsafe { &*entry.sides }))
}

/// The runtime and the number of this thread's worker, if it is one.
pub(crate) fn scheduler_and_index() -> Option<(*const (), usize)> {
    let entry = CURRENT.get();
    (!entry.sides.is_null()).then_some((entry.scheduler, entry.index))
}

/// The runtime this thread works for, or was entered into; null if there is none.
#[inline]
pub(crate) fn scheduler() -> *const () {
    CURRENT.get().scheduler
}

/// Makes `scheduler` the runtime of this thread, which is no worker of its, until the entry is
/// [taken back](Foreign::leave).
///
/// What `scheduler` points at must live for as long as the entry may be current: until `leave` is
/// true, and for ever if it is false.
pub(crate) fn enter_foreign(scheduler: *const ()) -> Foreign {
    let (before, number) = push(scheduler, 0, ptr::null());
    Foreign { before, number, _thread: PhantomData }
}

/// An entry of a user's.
pub(crate) struct Foreign {
    before: Entry,
    number: u64,
    /// The entry is this thread's.
    _thread: PhantomData<*const ()>,
}

impl Foreign {
    /// Takes the entry back; false if it is not the current one, and so stays.
    pub(crate) fn leave(&self) -> bool {
        let current = CURRENT.get().number == self.number;
        if current {
            CURRENT.set(self.before);
        }
        current
    }
}

/// This thread's worker number, if it is a worker of `scheduler`.
#[inline]
pub(crate) fn index_in(scheduler: *const ()) -> Option<usize> {
    let entry = CURRENT.get();
    (entry.scheduler == scheduler && !entry.sides.is_null()).then_some(entry.index)
}
