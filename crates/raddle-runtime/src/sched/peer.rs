//! What other threads may see and touch of a worker.

use std::ptr;
use std::sync::{Arc, OnceLock};

use raddle_base::inbox::Inbox;
use raddle_base::pointer::Pointer;
use raddle_base::shim::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use raddle_base::shim::atomic::{AtomicPtr, AtomicU64};

use crate::sched::idle::SleepWord;
use crate::sched::metrics::Counters;
use crate::sched::park::Remote;
use crate::sched::queue::Stealable;
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
    /// Non-zero while the worker's thread is in a blocking section (see `block_in_place`).
    pub(crate) away: AtomicU64,
    pub(crate) counters: Counters,
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
            sleep: SleepWord::new(),
            timers,
            remote,
            away: AtomicU64::new(0),
            counters: Counters::new(),
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

    /// Ends the worker's sleep in its driver. A worker without a driver has not slept yet.
    pub(crate) fn unpark(&self) {
        if let Some(remote) = self.remote.get() {
            remote.unpark();
        }
    }

    /// Whether the worker's thread is in a blocking section.
    pub(crate) fn is_away(&self) -> bool {
        // Acquire: pairs with the release of `set_away`.
        self.away.load(Acquire) != 0
    }

    pub(crate) fn set_away(&self, away: bool) {
        // Release: what the worker did before it left is visible to who takes over.
        self.away.store(u64::from(away), Release);
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.take_slot());
    }
}
