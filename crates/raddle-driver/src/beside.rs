//! A park that also ends when the driver of another thread has something for its owner.
//!
//! An owner with nothing to do may keep watch over others that are busy elsewhere. It then waits
//! by one `ppoll` for its own descriptor and theirs: an epoll descriptor is readable while events
//! are to be fetched, a ring's while completions are to be taken. Nothing stays registered with
//! anybody, so that nothing has to be taken back, and two that watch each other in turn make no
//! circle, which epoll would refuse.
//!
//! On a ring whose completions appear when its owner comes by
//! ([`TaskRun::Cooperative`](crate::TaskRun::Cooperative)), a busy owner's descriptor becomes
//! readable only with the next tick of the kernel: 1.8 ms later in the median, where a ring that
//! interrupts its owner takes 29 µs.

use crate::sys::epoll::Limit;
use crate::sys::poll;
use crate::sys::uring::Uring;
use std::os::fd::RawFd;
use std::sync::Arc;

/// What one park waits for. Kept between parks, so that only the first of them allocates.
#[derive(Default)]
pub(crate) struct Beside {
    asked: Vec<libc::pollfd>,
    /// The rings asked: what keeps their descriptors open.
    rings: Vec<Arc<Uring>>,
}

impl Beside {
    /// Adds a descriptor that stays open until the park is over.
    pub(crate) fn add(&mut self, fd: RawFd) {
        self.asked.push(poll::readable(fd));
    }

    /// Adds a ring.
    pub(crate) fn add_ring(&mut self, ring: Arc<Uring>) {
        self.add(ring.fd());
        self.rings.push(ring);
    }

    /// Waits for `own` and what was added, until `limit`. May return early.
    pub(crate) fn wait(&mut self, own: RawFd, limit: Limit) {
        self.add(own);
        poll::wait(&mut self.asked, limit);
    }

    /// Forgets what was added.
    pub(crate) fn clear(&mut self) {
        self.asked.clear();
        self.rings.clear();
    }
}
