//! The writing side of a stream: small writes that travel in groups.
//!
//! # Question
//!
//! A server that answers many connections in one turn makes one system call for each answer, and
//! on a ring each of these calls also runs a piece of queued work. Submitted together they cost
//! less. But a poll function borrows the bytes only for the call. When may it say "written"?
//!
//! # States
//!
//! | `busy` | `flying` | `next` | means |
//! |---|---|---|---|
//! | no | empty | empty | nothing is on its way; the word's SENDING is clear |
//! | yes | bytes | empty | a request sends `flying`; SENDING is set |
//! | yes | bytes | bytes | as above, and what was written meanwhile waits behind |
//!
//! # Protocol
//!
//! A small write on the owner's thread is copied, and its request prepared: it reaches the kernel
//! with the next entry, at the end of the turn at the latest. From the caller's view it is written
//! as it is after `send(2)`: handed over, in order, not yet with the peer. Writes that come while
//! a request is on its way are appended behind it, up to a limit, then they wait. Large writes
//! with nothing on its way go by a direct call, without a copy.
//!
//! An error is reported by the next write. Shutting the writing side down waits for what is on
//! its way, and so does closing: a dropped stream is closed when its last bytes have been taken by
//! the kernel, or after the peer has taken nothing for a minute.
//!
//! # Race
//!
//! A writer finds the buffer full and waits; the completion that makes room comes between its
//! look and its wait. It is not lost: the completion has put the next request on its way, and the
//! completion of that one wakes.
//!
//! # Proof
//!
//! All fields are under one lock, and SENDING changes under it. While `busy`, only the completion
//! touches `flying`, so the kernel reads stable bytes: appends go to `next`.

use super::Ring;
use crate::sys::sqe::Sqe;
use std::io::IoSlice;
use std::os::fd::RawFd;
use std::sync::Arc;

/// Longer writes go by a direct call if nothing is on its way.
pub(crate) const SMALL: usize = 8192;
/// So many bytes may wait behind a request.
const BEHIND: usize = 16_384;
/// A buffer of at most this size stays with its stream for the next write.
const KEEP: usize = 1024;

/// Under the source's outgoing lock.
#[derive(Default)]
pub(crate) struct Outgoing {
    busy: bool,
    flying: Vec<u8>,
    /// How much of `flying` the kernel has taken.
    taken: usize,
    next: Vec<u8>,
    error: Option<i32>,
    /// What to do when everything is sent.
    pub(crate) after: After,
    /// Where the requests run. Stays set, to spare the count.
    pub(crate) ring: Option<Arc<Ring>>,
}

/// What to do when everything is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum After {
    #[default]
    Nothing,
    /// Shut the writing side down.
    Shutdown,
    /// Hang up.
    HangUp,
}

/// What a completion came to.
pub(crate) struct Sent {
    /// The request to go on with.
    pub(crate) again: Option<Sqe>,
    /// There is an error to report.
    pub(crate) failed: bool,
}

impl Outgoing {
    pub(crate) fn is_busy(&self) -> bool {
        self.busy
    }

    /// The bytes of a write begin to fly: the request to submit on `ring`.
    pub(crate) fn begin(&mut self, fd: RawFd, from: &[IoSlice<'_>], ring: &Arc<Ring>) -> Sqe {
        debug_assert!(!self.busy && self.next.is_empty());
        self.flying.clear();
        from.iter().for_each(|slice| self.flying.extend_from_slice(slice));
        if self.ring.as_ref().is_none_or(|known| !Arc::ptr_eq(known, ring)) {
            self.ring = Some(Arc::clone(ring));
        }
        self.busy = true;
        self.taken = 0;
        self.request(fd)
    }

    fn request(&self, fd: RawFd) -> Sqe {
        let rest = &self.flying[self.taken..];
        Sqe::send_all(fd, rest.as_ptr(), rest.len())
    }

    /// The request that [`begin`](Self::begin) made could not be submitted.
    pub(crate) fn unbegin(&mut self) {
        self.busy = false;
        self.flying.clear();
    }

    /// Puts bytes behind the request that is on its way: how many; 0 if there is no room.
    pub(crate) fn append(&mut self, from: &[IoSlice<'_>]) -> usize {
        debug_assert!(self.busy);
        let before = self.next.len();
        for slice in from {
            let room = BEHIND - self.next.len();
            self.next.extend_from_slice(&slice[..slice.len().min(room)]);
        }
        self.next.len() - before
    }

    /// The completion of a request, or `None` if it never began.
    pub(crate) fn tell(&mut self, fd: RawFd, result: Option<i32>) -> Sent {
        match result {
            Some(count @ 0..) => {
                self.taken += count.unsigned_abs() as usize;
                if self.taken < self.flying.len() {
                    return Sent { again: Some(self.request(fd)), failed: false };
                }
            }
            Some(error) if matches!(-error, libc::EINTR | libc::EAGAIN) => {
                return Sent { again: Some(self.request(fd)), failed: false };
            }
            other => {
                self.error = Some(other.map_or(libc::ECANCELED, |error| -error));
                self.next.clear();
            }
        }
        self.flying.clear();
        self.taken = 0;
        if !self.next.is_empty() {
            std::mem::swap(&mut self.flying, &mut self.next);
            return Sent { again: Some(self.request(fd)), failed: false };
        }
        self.busy = false;
        for buffer in [&mut self.flying, &mut self.next] {
            if buffer.capacity() > KEEP {
                *buffer = Vec::new();
            }
        }
        Sent { again: None, failed: self.error.is_some() }
    }

    /// The error that the next write reports.
    pub(crate) fn take_error(&mut self) -> Option<i32> {
        self.error.take()
    }
}

#[cfg(test)]
#[path = "tests/outgoing.rs"]
mod tests;
