//! A driver as other threads know it.

use crate::epoll::Loop;
use crate::probe::Backend;
use crate::uring::Ring;
use raddle_base::fork;
use std::sync::Arc;

/// The handle through which other threads reach a driver: nudge its owner, reap in its place.
///
/// Obtained from [`Driver::remote`](crate::Driver::remote). Every method may be called from any
/// thread at any time, also after the driver was closed (then it does nothing).
#[derive(Debug)]
pub struct Remote {
    pub(crate) inner: Inner,
    /// Of the process that made it.
    generation: u32,
}

/// The shared part of either loop.
#[derive(Debug)]
pub(crate) enum Inner {
    Epoll(Arc<Loop>),
    Uring(Arc<Ring>),
}

impl Remote {
    pub(crate) fn new(inner: Inner) -> Remote {
        fork::watch();
        Remote { inner, generation: fork::generation() }
    }

    /// Whether this process is a forked child of the one that made the driver.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        self.generation != fork::generation()
    }

    /// Which backend the driver uses.
    pub fn backend(&self) -> Backend {
        match &self.inner {
            Inner::Epoll(_) => Backend::Epoll,
            Inner::Uring(_) => Backend::Uring,
        }
    }

    /// Makes the owner's present [`park`](crate::Driver::park) return, or its next one if it is
    /// not parked.
    ///
    /// Publishes: what the caller did before is visible to the owner once its park has returned.
    /// One system call, or none while an earlier call has not been taken notice of.
    pub fn unpark(&self) {
        match &self.inner {
            Inner::Epoll(poller) => poller.wake.unpark(),
            Inner::Uring(ring) => ring.wake().unpark(),
        }
    }

    /// Looks for I/O in the owner's place and wakes the tasks it concerns: for an owner that is
    /// stuck. Returns how many events there were, at most about `max`, or `None` if the owner or
    /// somebody else is looking at this moment.
    ///
    /// On io_uring, completions that the kernel has not posted yet need the owner's thread; see
    /// [`nudge`](Self::nudge). With `submit`, what the owner has prepared, and what other threads
    /// have asked of it, is submitted too: from then on those requests belong to the calling
    /// thread, which must not end before the driver is closed, or they end as cancelled. Does not
    /// block.
    pub fn try_rescue(&self, max: usize, submit: bool) -> Option<usize> {
        match &self.inner {
            Inner::Epoll(poller) => Some(poller.look(max)),
            Inner::Uring(ring) => ring.try_rescue(max, submit),
        }
    }

    /// Whether there is something that the owner has not looked at: events, or on io_uring also
    /// requests that are not submitted yet. On io_uring loads only; one system call on epoll while
    /// somebody waits. A hint.
    pub fn is_pending(&self) -> bool {
        match &self.inner {
            Inner::Epoll(poller) => poller.is_pending(),
            Inner::Uring(ring) => ring.is_pending(),
        }
    }

    /// Makes the owner's thread pass through the kernel, where it posts completions that wait for
    /// it, without interrupting what it runs; does nothing if there are none, and on epoll. Takes
    /// some 20 to 40 µs and disturbs all CPUs that run threads of this process.
    pub fn nudge(&self) {
        match &self.inner {
            Inner::Epoll(_) => {}
            Inner::Uring(ring) => ring.nudge(),
        }
    }
}
