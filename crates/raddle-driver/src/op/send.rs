//! Sending an owned buffer on a stream or a connected datagram socket.

use crate::buf::{self, IoBuf};
use crate::interest::Direction;
use crate::op::{Entry, Handle, Operation, Route, Submitted};
use crate::source::Source;
use crate::submitted::attempted;
use crate::sys::sqe::Sqe;
use std::io;

/// See [`send()`].
#[derive(Debug)]
pub struct Send<B> {
    handle: Handle,
    buf: B,
}

/// Sends what the socket takes of `buf`, at least one byte; the buffer comes back.
///
/// Tried in place first. Never raises SIGPIPE. If the future is dropped, some of the bytes may
/// have been sent.
#[track_caller]
pub fn send<B: IoBuf>(source: &Source, buf: B) -> Submitted<Send<B>> {
    Submitted::new(Send { handle: source.handle().clone(), buf })
}

// SAFETY: the entry names the buffer, which keeps its place, and the handle keeps the descriptor.
unsafe impl<B: IoBuf> Operation for Send<B> {
    type Output = (io::Result<usize>, B);

    fn attempt(&mut self, _ring: bool) -> Option<io::Result<u32>> {
        attempted(self.handle.attempt_write(buf::bytes(&self.buf)))
    }

    fn may_fly(&self) -> bool {
        self.handle.may_send_by_ring()
    }

    fn entry(&mut self) -> Entry {
        Entry(Sqe::send(self.handle.shell().raw(), self.buf.ptr(), self.buf.init_len()))
    }

    fn route(&self) -> Route<'_> {
        Route::Ready(&self.handle, Direction::Write)
    }

    fn finish(self, result: io::Result<u32>) -> Self::Output {
        (result.map(|count| count as usize), self.buf)
    }
}
