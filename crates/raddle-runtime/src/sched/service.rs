//! What is measured of a worker: how long events wait for it, and how long its dispatches are.
//!
//! A clock costs more than a short dispatch, so it is read for a sample of the events only, one in
//! [`EVERY`], and never for a yield. Each figure has one writer, so recording is a load and a
//! store.
//!
//! | figure | from | to | sampled | written by |
//! |---|---|---|---|---|
//! | remote | the push by a waker or spawner | the poll | one push in 64 | the worker |
//! | io | the look that found it | the poll | one task in 64 | the worker |
//! | timer | the look that fired it | the poll | one task in 64 | the worker |
//! | dispatch | a reading | the next | see [`Stretch`](super::probe::Stretch) | the worker |
//! | seen | a look of the monitor | the next | each | the monitor |
//!
//! Timers themselves record how late they fire, see [`Timers`](crate::time::Timers).

use std::ptr;
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::shim::atomic::Ordering::{Acquire, Relaxed, Release};
use raddle_base::shim::atomic::{AtomicPtr, AtomicU64};

use crate::histogram::{Histogram, Recorder};
use crate::sched::counters::Count;

/// One event in so many is sampled.
pub(crate) const EVERY: u32 = 64;

/// What had a task served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Another thread woke or spawned it.
    Remote,
    /// The driver woke it.
    Io,
    /// A timer woke it.
    Timer,
}

/// The measurements of one worker.
pub(crate) struct Service {
    /// By class.
    to_poll: [Recorder; 3],
    dispatch: Recorder,
    /// How often those were measured.
    measured: Count,
    seen: Seen,
    /// Tasks that other threads have pushed into this worker's inboxes.
    pushes: AtomicU64,
    /// Pushes for which this worker was woken.
    calls: AtomicU64,
    /// The sampled one among the pushes.
    pub(crate) stamp: Stamp,
}

impl Service {
    pub(crate) fn new() -> Self {
        Service {
            to_poll: std::array::from_fn(|_| Recorder::new()),
            dispatch: Recorder::new(),
            measured: Count::new(),
            seen: Seen::new(),
            pushes: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            stamp: Stamp::new(),
        }
    }

    /// A task of this class was polled so long after its event. The worker only.
    pub(crate) fn polled(&self, class: Class, length: Duration) {
        self.to_poll[class as usize].record(length, 1);
    }

    /// So many dispatches took so long together. The worker only.
    pub(crate) fn dispatched(&self, dispatches: u64, together: Duration) {
        if let Some(mean) = mean(together, dispatches) {
            self.dispatch.record(mean, dispatches);
            self.measured.add(1);
        }
    }

    /// Another thread is about to push `task` into one of this worker's inboxes.
    #[inline]
    pub(crate) fn pushes(&self, task: *const (), sampling: bool) {
        // Relaxed: a statistic, in a line that the push writes anyway.
        let before = self.pushes.fetch_add(1, Relaxed);
        if sampling && before.is_multiple_of(u64::from(EVERY)) {
            self.stamp.leave(task);
        }
    }

    /// A push had this worker woken.
    pub(crate) fn called(&self) {
        // Relaxed: a statistic, beside a system call.
        self.calls.fetch_add(1, Relaxed);
    }

    /// Pushes, and how many of them had the worker woken.
    pub(crate) fn counts(&self) -> (u64, u64) {
        // Relaxed: statistics. The calls first: there are never more of them.
        let calls = self.calls.load(Relaxed);
        (self.pushes.load(Relaxed).max(calls), calls)
    }

    pub(crate) fn to_poll(&self, class: Class) -> Histogram {
        self.to_poll[class as usize].snapshot()
    }

    pub(crate) fn dispatch_lengths(&self) -> Histogram {
        let mut lengths = self.dispatch.snapshot();
        lengths.merge(&self.seen.lengths.snapshot());
        lengths
    }

    /// For the monitor: what it saw at a look. `dispatches` completed since its look `elapsed`
    /// ago, all of which the worker was awake; `parks` in all so far.
    ///
    /// Lengths are recorded where nobody else does: the mean of the dispatches between two looks,
    /// if the worker neither slept nor measured them itself, and each dispatch that lasted over a
    /// look, with the time between the looks that saw it.
    pub(crate) fn observe(&self, dispatches: u64, elapsed: Duration, parks: u64, sampling: bool) {
        let length = self.seen.observe(dispatches, elapsed, [parks, self.measured.get()]);
        if sampling && let Some((length, count)) = length {
            self.seen.lengths.record(length, count);
        }
    }

    /// For the monitor: it has not looked for a while, and what it saw before says nothing.
    pub(crate) fn forget(&self) {
        self.seen.still.set(0);
    }

    /// For how long the worker has been in its present dispatch, by the monitor's looks.
    pub(crate) fn still(&self) -> Duration {
        Duration::from_nanos(self.seen.still.get())
    }
}

/// The length of one of `dispatches` that took so long together.
fn mean(together: Duration, dispatches: u64) -> Option<Duration> {
    let nanos = u64::try_from(together.as_nanos()).unwrap_or(u64::MAX);
    nanos.checked_div(dispatches).map(Duration::from_nanos)
}

/// What the monitor sees. Written by its thread only.
struct Seen {
    lengths: Recorder,
    /// How long no dispatch has completed, in nanoseconds.
    still: Count,
    /// What else the worker had done at the last look: sleeps and measurements of its own.
    others: [Count; 2],
}

impl Seen {
    fn new() -> Self {
        Seen { lengths: Recorder::new(), still: Count::new(), others: [Count::new(), Count::new()] }
    }

    /// A length and how many dispatches had it, if one is to be recorded.
    fn observe(
        &self,
        dispatches: u64,
        elapsed: Duration,
        others: [u64; 2],
    ) -> Option<(Duration, u64)> {
        let undisturbed = self.others.iter().zip(others).fold(true, |same, (last, now)| {
            let before = last.get();
            last.set(now);
            same && before == now
        });
        let still = self.still.get();
        if dispatches == 0 {
            self.still.set(still.saturating_add(elapsed.as_nanos() as u64));
            return None;
        }
        self.still.set(0);
        if still != 0 {
            return Some((Duration::from_nanos(still), 1));
        }
        let mean = mean(elapsed, dispatches)?;
        undisturbed.then_some((mean, dispatches))
    }
}

/// One push among many, and when it was made.
///
/// *Leave*: claim the empty stamp by exchange, write the time, then the task; all before the task
/// is pushed. *Take*: read task and time, and empty the stamp by exchange. A time belongs to its
/// task because nobody can claim the stamp in between. The address is compared and never followed.
pub(crate) struct Stamp {
    /// The task that is pushed; null for none, 1 while the time is written.
    task: AtomicPtr<()>,
    time: AtomicU64,
}

const CLAIMED: *mut () = ptr::without_provenance_mut(1);

impl Stamp {
    pub(crate) fn new() -> Self {
        Stamp { task: AtomicPtr::new(ptr::null_mut()), time: AtomicU64::new(0) }
    }

    /// Notes that `task` is about to be pushed, unless another push is noted. Reads the clock.
    #[cold]
    pub(crate) fn leave(&self, task: *const ()) {
        // Acquire: the time is written after whoever took the last stamp has read it.
        if self.task.compare_exchange(ptr::null_mut(), CLAIMED, Acquire, Relaxed).is_err() {
            return;
        }
        // Relaxed: published by the store that follows.
        self.time.store(Instant::now().as_nanos(), Relaxed);
        // Release: publishes the time.
        self.task.store(task.cast_mut(), Release);
    }

    /// The push that was noted, if any.
    #[inline]
    pub(crate) fn take(&self) -> Option<Stamped> {
        // Relaxed: seldom there, and then looked at again.
        let task = self.task.load(Relaxed);
        if task.is_null() || task == CLAIMED { None } else { self.take_noted() }
    }

    #[cold]
    fn take_noted(&self) -> Option<Stamped> {
        // Acquire: pairs with the release in `leave`.
        let task = self.task.load(Acquire);
        // Relaxed: as above.
        let at = Instant::from_nanos(self.time.load(Relaxed));
        if task.is_null() || task == CLAIMED {
            return None;
        }
        // Release: whoever leaves the next stamp writes its time after this one was read.
        self.task.compare_exchange(task, ptr::null_mut(), Release, Relaxed).ok()?;
        Some(Stamped { task, at })
    }
}

/// A push and when it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamped {
    pub(crate) task: *const (),
    pub(crate) at: Instant,
}

#[cfg(all(test, not(loom)))]
#[path = "tests/service.rs"]
mod tests;
