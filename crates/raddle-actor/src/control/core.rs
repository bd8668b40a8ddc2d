//! The control of one process: its lock, what lies under it, and how a signal is delivered.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

use raddle_base::shim::mutex::{Mutex, MutexGuard};
use raddle_base::wait::{WaitQueue, WakeBatch};

use super::signal::{Doom, Event, MonitorRef, Signal};
use super::word::{DOOMED, EVENTS, EXITING, KILLED, TRAP, WATCHED, Word};
use crate::exit::ExitReason;
use crate::pid::Pid;

/// What all who know a process share of it.
///
/// | field | accessed |
/// |---|---|
/// | `pid` | by anyone, it never changes |
/// | `joiners` | its word as in `control.rs`, its queue by its own lock |
/// | `inner` | under its lock, which stands before that of `joiners` |
pub(crate) struct Control {
    pub(crate) pid: Pid,
    pub(crate) joiners: WaitQueue,
    inner: Mutex<Inner>,
}

/// Under the lock. What few processes have lies in a box of its own.
pub(crate) struct Inner {
    /// The process' task, while it sleeps.
    waker: Option<Waker>,
    /// Fixed once, when the process begins to end.
    pub(crate) reason: Option<ExitReason>,
    extras: Option<Box<Extras>>,
}

/// Relations, signals and names.
#[derive(Default)]
pub(crate) struct Extras {
    pub(crate) dooms: VecDeque<Doom>,
    pub(crate) events: VecDeque<Event>,
    pub(crate) links: BTreeMap<Pid, Arc<Control>>,
    /// Who monitors this process.
    pub(crate) watchers: BTreeMap<MonitorRef, Arc<Control>>,
    /// Whom this process monitors.
    pub(crate) watching: BTreeMap<MonitorRef, Arc<Control>>,
    /// The number of the next monitor.
    pub(crate) monitors: u32,
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) groups: Vec<Arc<str>>,
}

/// What is left to be done when the lock is released: wake, and drop what may run foreign code.
#[must_use = "somebody is to be woken"]
#[derive(Default)]
pub(crate) struct After {
    waker: Option<Waker>,
    #[expect(dead_code, reason = "kept to be dropped after the lock")]
    refused: Option<Signal>,
}

impl After {
    /// Wakes, with no lock held. A panic of the waker goes on.
    pub(crate) fn run(self) {
        let mut batch = WakeBatch::new();
        self.add_to(&mut batch);
        batch.finish();
    }

    /// Adds the wake to a batch, which is emptied if it is full. No lock is held.
    pub(crate) fn add_to(mut self, batch: &mut WakeBatch) {
        if let Some(waker) = self.waker.take() {
            batch.push(waker.into());
        }
        if batch.is_full() {
            batch.wake_all();
        }
    }
}

impl Control {
    pub(crate) fn new(pid: Pid) -> Self {
        Control {
            pid,
            joiners: WaitQueue::new(()),
            inner: Mutex::new(Inner { waker: None, reason: None, extras: None }),
        }
    }

    #[inline]
    pub(crate) fn word(&self) -> Word<'_> {
        Word(self.joiners.word())
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    /// Takes the locks of both, in the order of their pids. They are two.
    pub(crate) fn lock_both<'a>(
        &'a self,
        other: &'a Control,
    ) -> (MutexGuard<'a, Inner>, MutexGuard<'a, Inner>) {
        if self.pid < other.pid {
            let mine = self.lock();
            (mine, other.lock())
        } else {
            let theirs = other.lock();
            (self.lock(), theirs)
        }
    }

    /// Puts a signal where the process finds it, and wakes the process.
    pub(crate) fn deliver(&self, signal: Signal) {
        let mut inner = self.lock();
        let after = inner.accept(self.word(), signal);
        drop(inner);
        after.run();
    }

    /// Leaves the waker of the process' task, if none of these bits is set. True if it did, or if
    /// that waker is here already.
    pub(crate) fn watch(&self, waker: &Waker, bits: u32) -> bool {
        let mut inner = self.lock();
        if self.word().has_locked(bits) {
            return false;
        }
        if inner.waker.as_ref().is_some_and(|here| here.will_wake(waker)) {
            return true;
        }
        drop(inner);
        // Foreign code: without the lock.
        let new = waker.clone();
        inner = self.lock();
        if self.word().has_locked(bits) {
            drop(inner);
            drop(new);
            return false;
        }
        let old = inner.waker.replace(new);
        self.word().set(WATCHED);
        drop(inner);
        drop(old);
        true
    }
}

impl Inner {
    /// Decides what a signal is to this process, under its lock.
    pub(crate) fn accept(&mut self, word: Word<'_>, signal: Signal) -> After {
        if self.is_exiting() {
            return After { waker: None, refused: Some(signal) };
        }
        let traps = word.has_locked(TRAP);
        match signal {
            Signal::Kill => {
                let doom = Doom { reason: ExitReason::Killed, link: None };
                self.extras().dooms.push_front(doom);
                self.announce(word, DOOMED | KILLED)
            }
            Signal::Exit { from, reason, linked } if traps => {
                self.extras().events.push_back(Event::Exit { pid: from, reason, linked });
                self.announce(word, EVENTS)
            }
            Signal::Exit { reason: ExitReason::Normal, .. } => After::default(),
            Signal::Exit { from, reason, linked } => {
                let link = from.filter(|_| linked);
                self.extras().dooms.push_back(Doom { reason, link });
                self.announce(word, DOOMED)
            }
            Signal::Down { monitor, pid, reason } => {
                self.extras().events.push_back(Event::Down { monitor, pid, reason });
                self.announce(word, EVENTS)
            }
        }
    }

    fn announce(&mut self, word: Word<'_>, bits: u32) -> After {
        word.set(bits);
        let waker = self.waker.take();
        if waker.is_some() {
            word.clear(WATCHED);
        }
        After { waker, refused: None }
    }

    pub(crate) fn is_exiting(&self) -> bool {
        self.reason.is_some()
    }

    /// What is not there for most processes, made now.
    pub(crate) fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }

    /// The same where nothing need be made.
    pub(crate) fn extras_if_any(&mut self) -> Option<&mut Extras> {
        self.extras.as_deref_mut()
    }

    /// Fixes the reason, and takes out what is to be dealt with; `None` if that was done before.
    pub(crate) fn begin_end(
        &mut self,
        word: Word<'_>,
        reason: ExitReason,
    ) -> Result<(Option<Box<Extras>>, Option<Waker>), ExitReason> {
        if self.is_exiting() {
            return Err(reason);
        }
        self.reason = Some(reason);
        word.set(EXITING);
        word.clear(DOOMED | EVENTS | KILLED | WATCHED);
        Ok((self.extras.take(), self.waker.take()))
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exiting = self.word().has(EXITING);
        f.debug_struct("Control").field("pid", &self.pid).field("exiting", &exiting).finish()
    }
}
