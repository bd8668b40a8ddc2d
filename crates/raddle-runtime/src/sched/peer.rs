//! What other threads may see and touch of a worker.

use std::ptr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::inbox::Inbox;
use raddle_base::pointer::Pointer;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use raddle_base::shim::atomic::{AtomicPtr, AtomicU64};

use crate::sched::counters::Counters;
use crate::sched::duty::Duty;
use crate::sched::idle::SleepWord;
use crate::sched::park::Remote;
use crate::sched::queue::Stealable;
use crate::sched::service::Service;
use crate::task::Runnable;
use crate::time::Timers;

/// The shared part of a worker: everything a thief, a waker or a rescuer needs.
pub(crate) struct Peer {
    /// The task that was woken last by a task of this worker's, to run next.
    slot: AtomicPtr<()>,
    /// Local spawns, local wakes, yields.
    pub(crate) rotating: Stealable,
    /// Tasks woken by I/O, timers and other threads.
    pub(crate) served: Stealable,
    /// Free tasks woken by other threads.
    pub(crate) inbox: Inbox<Runnable>,
    /// Pinned tasks woken or spawned by other threads.
    pub(crate) pinned_inbox: Inbox<Runnable>,
    pub(crate) sleep: SleepWord,
    pub(crate) timers: Arc<Timers>,
    /// The driver's other side; set when the worker's thread has made its driver.
    pub(crate) remote: Arc<OnceLock<Arc<dyn Remote>>>,
    /// Who does this worker's duties.
    pub(crate) duty: Duty,
    /// The processor time of the worker's thread, as bits; 0 while there is none.
    pub(crate) cpu: AtomicU64,
    /// The id of the task that is polled now or was polled last.
    pub(crate) running: AtomicU64,
    pub(crate) counters: Counters,
    pub(crate) service: Service,
}

impl Peer {
    pub(crate) fn new(rotating: Stealable, served: Stealable) -> Self {
        let remote = Arc::new(OnceLock::<Arc<dyn Remote>>::new());
        let owner = remote.clone();
        let timers = Arc::new(Timers::new(move || {
            // Without a driver the worker has not slept yet and will look at its timers first.
            if let Some(owner) = owner.get() {
                owner.unpark();
            }
        }));
        Peer {
            slot: AtomicPtr::new(ptr::null_mut()),
            rotating,
            served,
            inbox: Inbox::new(),
            pinned_inbox: Inbox::new(),
            sleep: SleepWord::unborn(),
            timers,
            remote,
            duty: Duty::new(),
            cpu: AtomicU64::new(0),
            running: AtomicU64::new(0),
            counters: Counters::new(),
            service: Service::new(),
        }
    }

    /// Puts a task into the slot; the one that was there comes back.
    #[inline]
    pub(crate) fn put_slot(&self, task: Runnable) -> Option<Runnable> {
        // AcqRel: publishes the task to a thief, and receives the old one from whoever put it.
        let old = self.slot.swap(task.into_raw().as_ptr(), AcqRel);
        // SAFETY: what the slot holds came from `into_raw`, and a swap takes it out once.
        ptr::NonNull::new(old).map(|raw| unsafe { Runnable::from_raw(raw) })
    }

    /// Takes the task out of the slot.
    #[inline]
    pub(crate) fn take_slot(&self) -> Option<Runnable> {
        // Relaxed: an empty slot is the common case and needs no order.
        if self.slot.load(Relaxed).is_null() {
            return None;
        }
        // Acquire: receives the task from whoever put it.
        let old = self.slot.swap(ptr::null_mut(), Acquire);
        // SAFETY: as in `put_slot`.
        ptr::NonNull::new(old).map(|raw| unsafe { Runnable::from_raw(raw) })
    }

    /// Whether other threads have sent tasks: two loads and one branch, before each dispatch.
    #[inline]
    pub(crate) fn has_mail(&self) -> bool {
        self.inbox.newest() as usize | self.pinned_inbox.newest() as usize != 0
    }

    /// Whether the slot holds a task.
    #[inline]
    pub(crate) fn has_slot(&self) -> bool {
        // Relaxed: a hint.
        !self.slot.load(Relaxed).is_null()
    }

    /// Whether a thief or rescuer would find something.
    pub(crate) fn has_free_work(&self) -> bool {
        !self.rotating.is_empty()
            || !self.served.is_empty()
            || !self.inbox.is_empty()
            || self.has_slot()
    }

    /// Whether something waits for the worker that others could do in its place.
    pub(crate) fn has_pending(&self, now: Instant) -> bool {
        self.has_free_work()
            || self.timers.next().is_some_and(|at| at <= now)
            || self.remote.get().is_some_and(|remote| remote.is_pending())
    }

    /// A task of this worker's is about to be polled.
    #[inline]
    pub(crate) fn begins(&self, task: &Runnable) {
        self.counters.dispatches.add(1);
        // Relaxed: for reports; a number, since a task may be gone by the time it is read.
        self.running.store(task.header().id.as_u64(), Relaxed);
    }

    /// For the monitor: `dispatches` of this worker completed since a look `elapsed` ago, all of
    /// which it was awake. See [`Service::observe`].
    pub(crate) fn observe(&self, dispatches: u64, elapsed: Duration, sampling: bool) {
        let parks = self.counters.parks.get();
        self.service.observe(dispatches, elapsed, parks, sampling);
    }

    /// Ends the worker's sleep in its driver. A worker without a driver has not slept yet.
    pub(crate) fn unpark(&self) {
        if let Some(remote) = self.remote.get() {
            remote.unpark();
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.take_slot());
    }
}
