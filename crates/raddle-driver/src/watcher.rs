//! How a backend's loop tells those who wait, without running their code under its lock.
//!
//! A loop holds what the kernel's events belong to as `Arc<dyn Watcher>` and knows nothing else
//! about it: sources and operations stand above the loops. Telling happens under the driver lock,
//! so that events of one descriptor are told in the order of the kernel, and does nothing but
//! move data: wakers and whatever has destructors are put into a [`Due`], which is settled once
//! the lock is released. Foreign code never runs under it.

use crate::sys::sqe::Sqe;
use crate::sys::uring::Cqe;
use raddle_base::wait::{Wake, WakeBatch};
use std::sync::Arc;
use std::task::Waker;

/// What a watcher is told.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News {
    /// epoll reported these events.
    Ready(u32),
    /// io_uring completed a request, or one step of it.
    Completed(Cqe),
    /// A request that had not reached the kernel yet never will: the driver is closed.
    Refused,
    /// A delay has passed.
    Elapsed,
    /// The driver is closed; nothing more will come from it.
    Closed,
}

/// Which of a watcher's requests the news is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Reading, accepting; an operation that has only one request.
    Read,
    /// Waiting until writing is possible.
    Write,
    /// Sending bytes the watcher holds.
    Send,
    /// A pause that the watcher asked for.
    Delay,
}

/// What a loop shall do after telling.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Then {
    /// Call [`Watcher::later`] once the lock is released.
    pub(crate) later: bool,
    /// Cancel the request (io_uring only).
    pub(crate) cancel: bool,
    /// Submit this next, for the same role (io_uring only).
    pub(crate) again: Option<Sqe>,
}

impl Then {
    /// Nothing more.
    pub(crate) const DONE: Then = Then { later: false, cancel: false, again: None };

    /// A call, if `later` is set.
    pub(crate) const fn later(later: bool) -> Then {
        Then { later, ..Then::DONE }
    }
}

/// Whoever is to be told about events of the kernel.
pub(crate) trait Watcher: Send + Sync {
    /// Takes news. Runs under the driver lock: moves data, calls no foreign code.
    fn tell(&self, role: Role, news: News, due: &mut Due) -> Then;

    /// What could not be done under the lock.
    fn later(&self) {}

    /// Remembers under which key a request runs (io_uring), `None` when it has ended.
    fn set_key(&self, _role: Role, _key: Option<u64>) {}

    /// The key of the request of this role.
    fn key(&self, _role: Role) -> Option<u64> {
        None
    }
}

/// The most watchers a [`Due`] holds: few, because most news only wakes, and the place of each is
/// written when a `Due` is made.
const LATER: usize = 4;

/// What is to be done when the driver lock is released: wakers to call, watchers to call back or
/// to let go. It lives on the stack and never allocates.
pub(crate) struct Due {
    wakers: WakeBatch,
    waking: usize,
    later: [Option<(Arc<dyn Watcher>, bool)>; LATER],
    held: usize,
}

impl Due {
    pub(crate) fn new() -> Due {
        Due { wakers: WakeBatch::new(), waking: 0, later: [const { None }; LATER], held: 0 }
    }

    /// Whether news of one more event fits: at most two wakers and one watcher come of it.
    pub(crate) fn has_room(&self) -> bool {
        self.held < LATER && self.waking + 2 <= WakeBatch::CAPACITY
    }

    /// Calls this waker when settled.
    pub(crate) fn wake(&mut self, waker: Option<Waker>) {
        if let Some(waker) = waker {
            self.wakers.push(Wake::from(waker));
            self.waking += 1;
        }
    }

    /// Lets go of a watcher when settled, after calling it back if `call` is set.
    pub(crate) fn release(&mut self, watcher: Arc<dyn Watcher>, call: bool) {
        self.later[self.held] = Some((watcher, call));
        self.held += 1;
    }

    /// Does it all. No lock of the driver may be held.
    pub(crate) fn settle(&mut self) {
        self.wakers.wake_all();
        self.waking = 0;
        for slot in &mut self.later[..std::mem::take(&mut self.held)] {
            if let Some((watcher, true)) = slot {
                watcher.later();
            }
            *slot = None;
        }
    }
}
