//! Reading a file into an owned buffer.

use crate::buf::{self, IoBufMut};
use crate::op::{Entry, Operation, Route, Submitted};
use crate::sys::{file, sqe::Sqe};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// See [`read()`].
#[derive(Debug)]
pub struct Read<B> {
    file: Arc<OwnedFd>,
    buf: B,
    offset: Option<u64>,
}

/// Reads from `file` at `offset`, or where it stands if that is `None`, into `buf`; the buffer
/// comes back with the number of bytes. `Ok(0)` is the end of the file (or there was no room).
///
/// What is in the page cache is read in place, by one call that does not wait for a disk.
#[track_caller]
pub fn read<B: IoBufMut>(file: &Arc<OwnedFd>, buf: B, offset: Option<u64>) -> Submitted<Read<B>> {
    Submitted::new(Read { file: Arc::clone(file), buf, offset })
}

/// Reads in place what is in the page cache, by one call that does not wait for a disk; `None` if
/// it would have to wait, or the file system cannot tell. Unlike [`read()`] it needs no buffer that
/// is given away.
pub fn read_cached(
    file: BorrowedFd<'_>,
    into: &mut [MaybeUninit<u8>],
    offset: Option<u64>,
) -> Option<io::Result<usize>> {
    match file::read_at(file, into, offset, libc::RWF_NOWAIT) {
        Ok(count) => Some(Ok(count)),
        Err(error) => match error.raw_os_error() {
            // Not cached, or a file system that cannot tell.
            Some(libc::EAGAIN | libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL) => None,
            _ => Some(Err(error)),
        },
    }
}

// SAFETY: the entry names the buffer, which keeps its place; the descriptor is kept too.
unsafe impl<B: IoBufMut> Operation for Read<B> {
    type Output = (io::Result<usize>, B);

    fn attempt(&mut self, _ring: bool) -> Option<io::Result<u32>> {
        let room = buf::room(&mut self.buf);
        let read = read_cached(self.file.as_fd(), room, self.offset)?;
        Some(read.map(|count| count as u32))
    }

    fn entry(&mut self) -> Entry {
        let (at, len) = (self.buf.ptr_mut(), self.buf.capacity());
        Entry(Sqe::read(self.file.as_raw_fd(), at, len, self.offset))
    }

    fn route(&self) -> Route<'_> {
        Route::Offload
    }

    fn block(&mut self) -> io::Result<u32> {
        let room = buf::room(&mut self.buf);
        file::read_at(self.file.as_fd(), room, self.offset, 0).map(|count| count as u32)
    }

    fn finish(mut self, result: io::Result<u32>) -> Self::Output {
        let result = result.map(|count| count as usize);
        if let Ok(count) = result {
            // SAFETY: the kernel has initialised so many bytes.
            unsafe { self.buf.set_init(count) };
        }
        (result, self.buf)
    }
}
