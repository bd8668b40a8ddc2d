//! The reading side of a stream: what was received and not yet read.
//!
//! This file is the seam behind which the mechanics of reading lie; the source asks for an entry
//! to submit, tells it completions, and takes bytes out.
//!
//! The mechanics: one multishot receive per stream picks buffers from the ring's pool. When
//! [`HOLD`] pieces are held unread, the receive is cancelled, so that a stream nobody reads keeps
//! neither buffers nor the kernel busy; what the kernel has posted before the cancellation stays
//! here and is read first. A pool that ran dry first grows; when it cannot, the next receive is a
//! single one into memory of the stream's own: nobody waits for an unread stream.
//!
//! Receives never belong to a future, so dropping one loses no byte.

use super::Ring;
use super::buffers::{GROUP, Pool};
use crate::sys::sqe::Sqe;
use crate::sys::uring::Cqe;
use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::sync::Arc;

/// So many unread pieces, and the receive is cancelled.
const HOLD: usize = 2;

/// Bytes that were received together.
enum Piece {
    /// In a buffer of the pool.
    Pooled { id: u16, at: u32, end: u32 },
    /// In memory of the stream's own.
    Own { bytes: Box<[u8]>, at: u32, end: u32 },
}

/// How input ended.
enum End {
    Eof,
    Error(i32),
}

/// Received and not yet read. Under the source's read lock.
#[derive(Default)]
pub(crate) struct Held {
    pieces: VecDeque<Piece>,
    /// Where pooled pieces come from: the pool of the ring that received them.
    pool: Option<Arc<Pool>>,
    /// The ring the receive runs on, while it does.
    pub(crate) ring: Option<Arc<Ring>>,
    end: Option<End>,
    cancelling: bool,
    /// The last receive found the pool empty.
    starved: bool,
    /// Where a single receive writes, while it is on its way.
    own: Option<Box<[u8]>>,
}

/// What a completion means for the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// There is something to take.
    pub(crate) data: bool,
    /// The receive should be cancelled.
    pub(crate) cancel: bool,
}

impl Held {
    /// The entry of the next receive, to be submitted on `ring`. None is on its way. `None` if
    /// something is held: it has to be read first.
    pub(crate) fn arm(&mut self, fd: RawFd, ring: &Arc<Ring>) -> Option<Sqe> {
        if !self.is_empty() {
            return None;
        }
        let pool = ring.pool();
        self.cancelling = false;
        self.ring = Some(Arc::clone(ring));
        if std::mem::take(&mut self.starved) && !pool.grow() {
            let own = self.own.insert(vec![0; pool.size() as usize].into_boxed_slice());
            return Some(Sqe::recv(fd, own.as_mut_ptr(), own.len()));
        }
        if self.pool.as_ref().is_none_or(|known| !Arc::ptr_eq(known, pool)) {
            // Pieces of the former pool are gone: a receive is armed only when none is held.
            self.pool = Some(Arc::clone(pool));
        }
        Some(Sqe::recv_multishot(fd, GROUP))
    }

    /// The receive could not be submitted, or has ended without having begun.
    pub(crate) fn disarm(&mut self) {
        self.ring = None;
        self.own = None;
    }

    /// Takes a completion. `keep` is false if the source is closed: bytes are let go.
    pub(crate) fn tell(&mut self, cqe: Cqe, keep: bool) -> Told {
        if cqe.result > 0 {
            self.push(cqe, keep);
        } else {
            if let Some(id) = cqe.buffer() {
                self.give_back(id);
            }
            self.ended(cqe.result);
        }
        if !cqe.more() {
            self.ring = None;
            self.own = None;
        }
        let full = cqe.more() && !self.cancelling && self.pieces.len() >= HOLD;
        self.cancelling |= full;
        Told { data: !self.pieces.is_empty() || self.end.is_some(), cancel: full }
    }

    fn push(&mut self, cqe: Cqe, keep: bool) {
        let end = cqe.result.unsigned_abs();
        match (cqe.buffer(), self.own.take()) {
            (Some(id), own) => {
                self.own = own;
                if keep {
                    self.pieces.push_back(Piece::Pooled { id, at: 0, end });
                } else {
                    self.give_back(id);
                }
            }
            (None, Some(bytes)) if keep => self.pieces.push_back(Piece::Own { bytes, at: 0, end }),
            (None, _) => {}
        }
    }

    fn ended(&mut self, result: i32) {
        match -result {
            0 => self.end = Some(End::Eof),
            libc::ENOBUFS => self.starved = true,
            // Not the stream's end: the receive is armed again when somebody reads.
            libc::ECANCELED | libc::EAGAIN | libc::EINTR => {}
            number => self.end = Some(End::Error(number)),
        }
    }

    fn give_back(&self, id: u16) {
        if let Some(pool) = &self.pool {
            pool.give_back(id);
        }
    }

    /// Whether nothing is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.end.is_none()
    }

    /// Moves held bytes into `into`; how many, or how input ended if nothing is held before it.
    pub(crate) fn take(&mut self, into: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
        let mut done = 0;
        while done < into.len()
            && let Some(piece) = self.pieces.front_mut()
        {
            let (count, used_up) = piece.copy(self.pool.as_deref(), &mut into[done..], true);
            done += count;
            if used_up && let Some(Piece::Pooled { id, .. }) = self.pieces.pop_front() {
                self.give_back(id);
            }
        }
        if done != 0 || into.is_empty() {
            return Ok(done);
        }
        match self.end.take() {
            Some(End::Error(number)) => Err(io::Error::from_raw_os_error(number)),
            // An end of input is seen again by the next receive.
            Some(End::Eof) | None => Ok(0),
        }
    }

    /// As [`take`](Self::take), into several buffers.
    pub(crate) fn take_vectored(&mut self, into: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let mut done = 0;
        for slice in into.iter_mut().filter(|slice| !slice.is_empty()) {
            if done != 0 && self.pieces.is_empty() {
                // How input ended is for the next read to say.
                break;
            }
            done += self.take(as_room(slice))?;
        }
        Ok(done)
    }

    /// Copies held bytes into `into` and keeps them; an end is kept too, unless it is an error.
    pub(crate) fn peek(&mut self, into: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
        let mut done = 0;
        for piece in &mut self.pieces {
            if done == into.len() {
                break;
            }
            done += piece.copy(self.pool.as_deref(), &mut into[done..], false).0;
        }
        if done == 0
            && !into.is_empty()
            && let Some(End::Error(number)) = self.end
        {
            self.end = None;
            return Err(io::Error::from_raw_os_error(number));
        }
        Ok(done)
    }

    /// Lets go of all bytes that are held; whether there were any.
    pub(crate) fn discard(&mut self) -> bool {
        let any = !self.pieces.is_empty();
        while let Some(piece) = self.pieces.pop_front() {
            if let Piece::Pooled { id, .. } = piece {
                self.give_back(id);
            }
        }
        any
    }
}

/// Initialised bytes as [`Held::take`] sees them, which only ever writes initialised ones.
pub(crate) fn as_room(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: same layout, and nobody writes uninitialised bytes through it, as said above.
    unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.discard();
    }
}

impl Piece {
    /// Copies what fits; how much, and whether the piece is used up. Moves on if `consume` is set.
    fn copy(
        &mut self,
        pool: Option<&Pool>,
        into: &mut [MaybeUninit<u8>],
        consume: bool,
    ) -> (usize, bool) {
        let (bytes, at, end) = match self {
            Piece::Pooled { id, at, end } => {
                let Some(pool) = pool else { unreachable!("a pooled piece has a pool") };
                // SAFETY: the kernel filled `end` bytes of this buffer and told so; this piece
                // holds it until it is given back, which drops the piece.
                (unsafe { pool.filled(*id, *end) }, at, *end)
            }
            Piece::Own { bytes, at, end } => (&bytes[..], at, *end),
        };
        let rest = &bytes[*at as usize..end as usize];
        let count = rest.len().min(into.len());
        into[..count].write_copy_of_slice(&rest[..count]);
        let reached = *at + count as u32;
        if consume {
            *at = reached;
        }
        (count, reached == end)
    }
}

#[cfg(test)]
#[path = "tests/stream.rs"]
mod tests;
