//! The ring of one worker, as all its users share it.
//!
//! | part | access |
//! |---|---|
//! | `inflight` | the driver lock: the owner, and a rescuer that finds it free |
//! | `owned` | the owner's thread only |
//! | `inbox` | its own small lock: anybody posts, the owner empties |
//! | `pool` | see its file |
//!
//! The lock is held for short stretches, never in a blocking call: an owner that sleeps in the
//! kernel or is stuck in a task does not keep rescuers out. For the owner it is uncontended,
//! which costs two atomic operations a batch of completions; a plain cell would save those, and
//! take-over with them.
//!
//! **Threads.** The kernel ties a request to the thread that submits it. So a request made on
//! another thread is an *errand*: it is posted to the inbox, and the owner submits it.
//!
//! **Order of locks:** driver lock, then a source's own lock. Errands and pool: none under theirs.

pub(crate) mod accept;
pub(crate) mod buffers;
mod inflight;
pub(crate) mod outgoing;
mod patience;
pub(crate) mod probe;
pub(crate) mod source;
pub(crate) mod stream;
mod turn;
pub(crate) mod word;

use crate::config::{Config, TaskRun};
use crate::errors;
use crate::owner::OwnerCell;
use crate::sizes::completions;
use crate::sys::sqe::Sqe;
use crate::sys::uring::{self as sys, Memory, Uring, setup};
use crate::wake::Wake;
use crate::watcher::{Due, News, Role, Watcher};
use buffers::Pool;
use inflight::Inflight;
use patience::patiently;
use raddle_base::doorbell::Doorbell;
use raddle_base::shim::mutex::Mutex;
use raddle_base::slab::Key;
use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

/// How long a nudge is waited for: some 20 µs.
const NUDGE_SPINS: u32 = 500;

/// What other threads ask the owner to do.
enum Errand {
    Submit(Sqe, Arc<dyn Watcher>, Role),
    Cancel(Arc<dyn Watcher>, Role),
    Delay(libc::timespec, Arc<dyn Watcher>),
}

#[derive(Default)]
struct Inbox {
    closed: bool,
    errands: Vec<Errand>,
}

/// What the owner keeps.
struct Owned {
    /// Gone when the ring is closed.
    uring: RefCell<Option<Arc<Uring>>>,
    doorbell: Doorbell,
    /// How far the completion queue was read when the owner last looked.
    seen: Cell<u32>,
    /// How many events were told since the owner last returned from waiting.
    told: Cell<u32>,
}

/// One worker's ring.
pub(crate) struct Ring {
    memory: Arc<Memory>,
    wake: Wake,
    pool: Arc<Pool>,
    inbox: Mutex<Inbox>,
    inflight: Mutex<Inflight>,
    owned: OwnerCell<Owned>,
    group_writes_from: u32,
}

impl Ring {
    /// To be made on the owner's thread. The wake descriptor is armed before this returns.
    pub(crate) fn new(config: &Config) -> io::Result<Ring> {
        let room = match config.completions {
            0 => completions(config.entries),
            count => count,
        };
        let flags = match config.task_run {
            TaskRun::Cooperative => setup::COOP_TASKRUN | setup::TASKRUN_FLAG,
            TaskRun::Eager => 0,
            TaskRun::Deferred => setup::DEFER_TASKRUN | setup::SINGLE_ISSUER | setup::TASKRUN_FLAG,
        };
        let (uring, pool) = patiently(|| {
            let uring = Uring::new(config.entries, room, flags)?;
            let pool = Pool::new(&uring, config.buffers, config.buffer_size)?;
            Ok((uring, Arc::new(pool)))
        })?;
        let (memory, wake) = (Arc::clone(uring.memory()), Wake::new()?);
        let mask = sys::SQ_CQ_OVERFLOW | sys::SQ_TASKRUN;
        // SAFETY: the words lie in the memory that this ring keeps mapped as long as it lives.
        let doorbell = unsafe { Doorbell::new(memory.tail(), memory.flags(), mask) };
        let inflight = Inflight::new(Arc::clone(&uring), wake.fd().as_raw_fd());
        let uring = RefCell::new(Some(uring));
        let ring = Ring {
            memory,
            wake,
            pool,
            inbox: Mutex::default(),
            inflight: Mutex::new(inflight),
            owned: OwnerCell::new(Owned {
                uring,
                doorbell,
                seen: Cell::new(0),
                told: Cell::new(0),
            }),
            group_writes_from: config.group_writes_from,
        };
        ring.inflight.lock().arm_wake();
        ring.account(&ring.inflight.lock(), ring.owned.get());
        ring.submit();
        if ring.doorbell().prepared() != 0 {
            // A driver that cannot be nudged would be worse than none.
            return Err(io::Error::other("io_uring does not take the poll of the wake descriptor"));
        }
        Ok(ring)
    }

    pub(crate) fn wake(&self) -> &Wake {
        &self.wake
    }

    /// Whether a small write made now, on this thread, is better submitted with others.
    #[inline]
    pub(crate) fn groups_writes(&self) -> bool {
        self.owned.get().is_some_and(|owned| owned.told.get() >= self.group_writes_from)
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// The owner's part.
    ///
    /// # Panics
    ///
    /// On another thread: a driver is not `Send`, so its methods cannot be called there.
    fn owned(&self) -> &Owned {
        self.owned.get().expect("a driver is used on the thread that made it")
    }

    pub(crate) fn doorbell(&self) -> &Doorbell {
        &self.owned().doorbell
    }

    /// Prepares a request, or posts it if this is not the owner's thread.
    ///
    /// # Errors
    ///
    /// The ring is closed. The watcher was not told anything.
    ///
    /// # Safety
    ///
    /// The addresses in the entry must stay valid as long as the watcher lives.
    pub(crate) unsafe fn request(
        &self,
        sqe: Sqe,
        watcher: Arc<dyn Watcher>,
        role: Role,
    ) -> io::Result<()> {
        let Some(owned) = self.owned.get() else {
            return self.post(Errand::Submit(sqe, watcher, role));
        };
        let mut inflight = self.inflight.lock();
        if inflight.closing {
            drop(inflight);
            drop(watcher);
            return Err(errors::shut_down());
        }
        // SAFETY: promised by the caller.
        unsafe { inflight.insert(sqe, watcher, role) };
        owned.doorbell.set_prepared(inflight.prepared());
        Ok(())
    }

    /// Asks for the cancellation of a watcher's request, if it has one on its way here.
    pub(crate) fn cancel(&self, watcher: Arc<dyn Watcher>, role: Role) {
        let Some(owned) = self.owned.get() else {
            // A closed ring has cancelled everything.
            let _ = self.post(Errand::Cancel(watcher, role));
            return;
        };
        let mut inflight = self.inflight.lock();
        // What is deferred has no key yet.
        inflight.catch_up();
        if let Some(key) = watcher.key(role).and_then(Key::from_bits) {
            inflight.cancel(key);
        }
        owned.doorbell.set_prepared(inflight.prepared());
        drop(inflight);
    }

    /// Tells the watcher that `pause` has passed, once it has.
    pub(crate) fn delay(&self, pause: Duration, watcher: Arc<dyn Watcher>) -> io::Result<()> {
        let time = crate::sys::epoll::timespec(pause);
        let Some(owned) = self.owned.get() else {
            return self.post(Errand::Delay(time, watcher));
        };
        let mut inflight = self.inflight.lock();
        if inflight.closing {
            drop(inflight);
            return Err(errors::shut_down());
        }
        inflight.insert_delay(time, watcher);
        owned.doorbell.set_prepared(inflight.prepared());
        Ok(())
    }

    fn post(&self, errand: Errand) -> io::Result<()> {
        let mut inbox = self.inbox.lock();
        if inbox.closed {
            drop(inbox);
            drop(errand);
            return Err(errors::shut_down());
        }
        inbox.errands.push(errand);
        drop(inbox);
        self.wake.announce();
        Ok(())
    }

    /// Takes completions and settles what comes of them. How many.
    fn reap(&self, max: usize) -> usize {
        let owned = self.owned.get();
        let mut due = Due::new();
        let mut told = 0;
        loop {
            let mut inflight = self.inflight.lock();
            let (count, more) = inflight.reap(max - told, owned.is_some(), &mut due);
            let again = self.account(&inflight, owned);
            drop(inflight);
            if again {
                self.wake.announce();
            }
            told += count;
            due.settle();
            if !more || told >= max {
                return told;
            }
        }
    }

    /// Keeps the owner's doorbell right; for a rescuer, true if it leaves work to the owner.
    fn account(&self, inflight: &Inflight, owned: Option<&Owned>) -> bool {
        match owned {
            Some(owned) => {
                owned.seen.set(inflight.head());
                owned.doorbell.set_seen(inflight.head());
                owned.doorbell.set_prepared(inflight.prepared());
                false
            }
            None => inflight.has_deferred(),
        }
    }

    /// Whether there is something that nobody has looked at: loads only. Errands count, since who
    /// looks for a moment takes the completion that tells of them, and not the errands themselves.
    pub(crate) fn is_pending(&self) -> bool {
        self.memory.is_pending() || self.holds_back() || self.wake.has_errand()
    }

    /// Whether the kernel has work that it does when the owner's thread comes by.
    pub(crate) fn holds_back(&self) -> bool {
        self.memory.load_flags() & (sys::SQ_CQ_OVERFLOW | sys::SQ_TASKRUN) != 0
    }

    /// Makes the owner's thread pass through the kernel if work waits for that there.
    pub(crate) fn nudge(&self) {
        if self.memory.load_flags() & sys::SQ_TASKRUN == 0 {
            return;
        }
        crate::sys::barrier::interrupt_all();
        // The work is done as the interrupted thread leaves the kernel again, which is soon; a
        // thread that the kernel does not run has it done when it does.
        for _ in 0..NUDGE_SPINS {
            if self.memory.load_flags() & sys::SQ_TASKRUN == 0 {
                return;
            }
            raddle_base::shim::hint::spin_loop();
        }
    }

    /// Takes completions in the owner's place. `None` if the lock is taken or the ring closed.
    ///
    /// With `submit` it also prepares and submits what waits for that. Such requests belong to this
    /// thread, which therefore must live as long as the ring; without, they are left to the owner.
    pub(crate) fn try_rescue(&self, max: usize, submit: bool) -> Option<usize> {
        let mut due = Due::new();
        let mut told = 0;
        loop {
            let noticed = submit && self.wake.take_errand();
            let errands = if noticed { self.take_errands() } else { Vec::new() };
            // Who has taken notice must do what is owed, be it an errand or something deferred.
            let mut inflight = match noticed {
                false => self.inflight.try_lock()?,
                true => self.inflight.lock(),
            };
            let Some(uring) = inflight.uring.clone() else {
                drop(inflight);
                Ring::refuse_all(errands);
                return None;
            };
            let done = if submit { Ring::prepare(errands, &mut inflight) } else { Vec::new() };
            let waiting = if submit { inflight.waiting() } else { 0 };
            if waiting != 0 || self.memory.load_flags() & sys::SQ_CQ_OVERFLOW != 0 {
                // What the kernel does not take now stays prepared.
                let _ = uring.enter(waiting, true);
            }
            let (count, more) = inflight.reap(max - told, self.owned.get().is_some(), &mut due);
            let again = self.account(&inflight, self.owned.get());
            drop(inflight);
            drop(done);
            told += count;
            due.settle();
            if again && submit && count != 0 && told < max {
                continue;
            }
            if again {
                self.wake.announce();
            }
            if !more || told >= max {
                return Some(told);
            }
        }
    }

    /// Tells a watcher that its request was never submitted.
    fn refuse(watcher: Arc<dyn Watcher>, role: Role) {
        let mut due = Due::new();
        let then = watcher.tell(role, News::Refused, &mut due);
        due.release(watcher, then.later);
        due.settle();
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").finish_non_exhaustive()
    }
}
