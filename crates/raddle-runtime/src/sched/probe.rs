//! One served task at a time is followed from its event to its poll.
//!
//! When a look, a timer or the inbox puts a task into a served queue, one in [`EVERY`] of them is
//! noted by its address, with the time; when that very task is taken out of the queue, the time
//! between is recorded. Only the worker does this, and it never follows the address: a task that
//! was stolen meanwhile is simply not seen again. Then the note is given up: when its queue is
//! found empty, when the same address is served again, and after [`PATIENCE`] other tasks.

use std::cell::Cell;
use std::ptr;

use raddle_base::clock::Instant;

use crate::sched::service::{Class, EVERY, Service, Stamped};
use crate::task::Runnable;

/// Served tasks that are taken before a note is given up.
const PATIENCE: u32 = 1 << 14;

/// The note, and when to make the next.
pub(crate) struct Probe {
    sampling: bool,
    /// Served tasks until the next one that is noted.
    left: Cell<u32>,
    /// The noted task; null for none.
    task: Cell<*const ()>,
    pinned: Cell<bool>,
    class: Cell<Class>,
    since: Cell<Instant>,
    patience: Cell<u32>,
}

impl Probe {
    pub(crate) fn new(sampling: bool) -> Self {
        Probe {
            sampling,
            left: Cell::new(1),
            task: Cell::new(ptr::null()),
            pinned: Cell::new(false),
            class: Cell::new(Class::Io),
            since: Cell::new(Instant::from_nanos(0)),
            patience: Cell::new(0),
        }
    }

    /// A task that was woken just now goes into a served queue.
    #[inline]
    pub(crate) fn served(&self, task: &Runnable, class: Class) {
        let left = self.left.get() - 1;
        self.left.set(left);
        if left == 0 || self.task.get() == task.address() {
            self.note_now(task, class);
        }
    }

    #[cold]
    fn note_now(&self, task: &Runnable, class: Class) {
        // Served again: it was polled elsewhere, or is another task at the same place.
        if self.task.get() == task.address() {
            self.give_up();
        }
        if self.left.get() != 0 {
            return;
        }
        self.left.set(EVERY);
        if self.sampling && self.task.get().is_null() {
            self.note(task, class, Instant::now());
        }
    }

    /// A task from an inbox goes into a served queue; `stamp` tells of one of that inbox's tasks
    /// when it was pushed.
    #[inline]
    pub(crate) fn received(&self, task: &Runnable, stamp: Option<Stamped>) {
        if let Some(stamp) = stamp
            && stamp.task == task.address()
        {
            self.note(task, Class::Remote, stamp.at);
        }
    }

    fn note(&self, task: &Runnable, class: Class, since: Instant) {
        self.task.set(task.address());
        self.pinned.set(task.header().state.is_pinned());
        self.class.set(class);
        self.since.set(since);
        self.patience.set(PATIENCE);
    }

    fn give_up(&self) {
        self.task.set(ptr::null());
    }

    /// A task was taken from a served queue and is polled next.
    #[inline]
    pub(crate) fn taken(&self, task: &Runnable, service: &Service) {
        if !self.task.get().is_null() {
            self.look_at(task, service);
        }
    }

    #[cold]
    fn look_at(&self, task: &Runnable, service: &Service) {
        let patience = self.patience.get() - 1;
        self.patience.set(patience);
        if self.task.get() == task.address() {
            service.polled(self.class.get(), self.since.get().elapsed());
            self.give_up();
        } else if patience == 0 {
            self.give_up();
        }
    }

    /// The served queue of free tasks was found empty: a noted one was stolen.
    #[inline]
    pub(crate) fn found_empty(&self) {
        if !self.pinned.get() {
            self.give_up();
        }
    }
}

/// When the lengths of dispatches are measured: between two readings of the clock that are made
/// anyway, and from the end to the beginning of one sleep in [`EVERY`].
pub(crate) struct Stretch {
    sampling: bool,
    /// Sleeps until the next one that is followed by a measurement.
    left: Cell<u32>,
    /// The last reading, and the dispatches there had been; none since the last sleep.
    since: Cell<Option<(Instant, u64)>>,
    /// The reading at the end of the last sleep was made for this.
    own: Cell<bool>,
}

impl Stretch {
    pub(crate) fn new(sampling: bool) -> Self {
        Stretch { sampling, left: Cell::new(1), since: Cell::new(None), own: Cell::new(false) }
    }

    /// The clock was read, after `dispatches` in all.
    pub(crate) fn clock(&self, now: Instant, dispatches: u64, service: &Service) {
        if !self.sampling {
            return;
        }
        if let Some((since, before)) = self.since.replace(Some((now, dispatches))) {
            let count = dispatches.wrapping_sub(before);
            service.dispatched(count, now.duration_since(since));
        }
    }

    /// The worker is about to sleep, after `dispatches` in all.
    #[inline]
    pub(crate) fn sleeps(&self, dispatches: u64, service: &Service) {
        if self.own.replace(false) {
            self.clock(Instant::now(), dispatches, service);
        }
        self.since.set(None);
    }

    /// The worker has slept; the time, exact or that of the kernel's last tick.
    #[inline]
    pub(crate) fn wakes(&self, dispatches: u64) -> Instant {
        let left = self.left.get() - 1;
        self.left.set(if left == 0 { EVERY } else { left });
        if left != 0 || !self.sampling {
            return Instant::coarse();
        }
        let now = Instant::now();
        self.since.set(Some((now, dispatches)));
        self.own.set(true);
        now
    }
}

#[cfg(all(test, not(loom)))]
#[path = "tests/probe.rs"]
mod tests;
