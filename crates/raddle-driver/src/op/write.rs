//! Writing an owned buffer to a file.

use crate::buf::{self, IoBuf};
use crate::op::{Entry, Operation, Route, Submitted};
use crate::sys::{file, sqe::Sqe};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;

/// See [`write()`].
#[derive(Debug)]
pub struct Write<B> {
    file: Arc<OwnedFd>,
    buf: B,
    offset: Option<u64>,
}

/// Writes `buf` to `file` at `offset`, or where it stands if that is `None`; the buffer comes back
/// with the number of bytes written.
///
/// A dropped future may have written some or all of it. For files; pipes and sockets are
/// [`Source`](crate::Source)s.
#[track_caller]
pub fn write<B: IoBuf>(file: &Arc<OwnedFd>, buf: B, offset: Option<u64>) -> Submitted<Write<B>> {
    Submitted::new(Write { file: Arc::clone(file), buf, offset })
}

// SAFETY: the entry names the buffer, which keeps its place; the descriptor is kept too.
unsafe impl<B: IoBuf> Operation for Write<B> {
    type Output = (io::Result<usize>, B);

    fn attempt(&mut self, _ring: bool) -> Option<io::Result<u32>> {
        None
    }

    fn entry(&mut self) -> Entry {
        let (at, len) = (self.buf.ptr(), self.buf.init_len());
        Entry(Sqe::write(self.file.as_raw_fd(), at, len, self.offset))
    }

    fn route(&self) -> Route<'_> {
        Route::Offload
    }

    fn block(&mut self) -> io::Result<u32> {
        let bytes = buf::bytes(&self.buf);
        file::write_at(self.file.as_fd(), bytes, self.offset).map(|count| count as u32)
    }

    fn finish(self, result: io::Result<u32>) -> Self::Output {
        (result.map(|count| count as usize), self.buf)
    }
}
