//! The accepting side of a listener.
//!
//! An accept request belongs to the listener, not to the future that asked for it: a connection
//! that arrives after the future was dropped waits here and is handed out first. One request is
//! on its way at a time, and only while somebody waits: what is already in the kernel's queue is
//! taken by direct calls, which are quicker than going through the ring. When the last waiting
//! future is dropped the request is cancelled, so that a caller that stopped accepting (at its
//! limit of connections) takes no more from the kernel than perhaps one.

use super::Ring;
use crate::addr::RawAddr;
use crate::backoff::Backoff;
use crate::sys::sqe::Sqe;
use raddle_base::shim::cell::UnsafeCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;

/// Under the source's accept lock.
#[derive(Default)]
pub(crate) struct Accepted {
    connections: VecDeque<(OwnedFd, RawAddr)>,
    error: Option<i32>,
    pub(crate) backoff: Backoff,
    /// In place of a request, a pause is on its way.
    pub(crate) pausing: bool,
    /// The ring the request runs on, while it does.
    pub(crate) ring: Option<Arc<Ring>>,
}

/// Where the kernel writes the peer's address, while a request is on its way.
pub(crate) struct PeerAddr(UnsafeCell<RawAddr>);

// SAFETY: written by the kernel while a request is on its way, and by nobody else; read when its
// completion is told, and reset before the next request: both under the accept lock. There is one
// request at a time.
unsafe impl Sync for PeerAddr {}

impl PeerAddr {
    pub(crate) fn new() -> PeerAddr {
        PeerAddr(UnsafeCell::new(RawAddr::empty()))
    }

    /// The entry of the next accept. No request is on its way.
    pub(crate) fn entry(&self, fd: RawFd) -> Sqe {
        self.0.with_mut(|addr| {
            // SAFETY: no request is on its way, and the caller holds the accept lock.
            let addr = unsafe { &mut *addr };
            *addr = RawAddr::empty();
            let (at, len) = addr.parts_mut();
            Sqe::accept(fd, at, len)
        })
    }

    /// What the kernel wrote. The request has completed.
    fn read(&self) -> RawAddr {
        // SAFETY: as in `entry`.
        let mut addr = self.0.with(|addr| unsafe { *addr });
        let len = addr.len();
        addr.set_len(len);
        addr
    }
}

impl Accepted {
    /// Takes the completion of a request. `keep` is false if the listener is closed. Returns
    /// whether there is something to take.
    pub(crate) fn tell(&mut self, result: i32, peer: &PeerAddr, keep: bool) -> bool {
        self.ring = None;
        if result >= 0 {
            // SAFETY: a success is a new descriptor, told once.
            let fd = unsafe { OwnedFd::from_raw_fd(result) };
            if keep {
                self.backoff.over();
                self.connections.push_back((fd, peer.read()));
            }
        } else if keep && !is_passing(-result) {
            self.error = Some(-result);
        }
        !self.is_empty()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.connections.is_empty() && self.error.is_none()
    }

    /// A connection that has waited here, or an error.
    pub(crate) fn take(&mut self) -> Option<io::Result<(OwnedFd, RawAddr)>> {
        match self.connections.pop_front() {
            Some(connection) => Some(Ok(connection)),
            None => self.error.take().map(|number| Err(io::Error::from_raw_os_error(number))),
        }
    }

    /// The listener is closed: connections that nobody took are closed too.
    pub(crate) fn discard(&mut self) -> VecDeque<(OwnedFd, RawAddr)> {
        std::mem::take(&mut self.connections)
    }
}

/// Whether the next attempt, a direct call, will find out by itself: cancelled, interrupted, or
/// out of descriptors, which only the direct path reports.
fn is_passing(number: i32) -> bool {
    let list = [libc::ECANCELED, libc::EAGAIN, libc::EINTR, libc::EMFILE, libc::ENFILE];
    list.contains(&number)
}
