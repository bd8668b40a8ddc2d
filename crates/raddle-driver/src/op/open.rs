//! Opening a file off the worker, and closing it again if nobody waits any more.

use crate::op::{Entry, Operation, Route, Submitted};
use crate::sys::{file, sqe::Sqe};
use std::ffi::CString;
use std::io;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};

/// See [`open()`].
#[derive(Debug)]
pub struct Open {
    path: CString,
    flags: i32,
    mode: libc::mode_t,
}

/// Opens `path` with the flags of `open(2)` (closing on exec is added) and, for a file that is
/// created, `mode`.
///
/// A file that is opened after the future was dropped is closed again.
#[track_caller]
pub fn open(path: CString, flags: i32, mode: u32) -> Submitted<Open> {
    Submitted::new(Open { path, flags: flags | libc::O_CLOEXEC, mode })
}

// SAFETY: the entry names the path, which lies on the heap.
unsafe impl Operation for Open {
    type Output = io::Result<OwnedFd>;

    fn attempt(&mut self, _ring: bool) -> Option<io::Result<u32>> {
        None
    }

    fn entry(&mut self) -> Entry {
        Entry(Sqe::open(self.path.as_ptr(), self.flags, self.mode))
    }

    fn route(&self) -> Route<'_> {
        Route::Offload
    }

    fn block(&mut self) -> io::Result<u32> {
        file::open(&self.path, self.flags, self.mode).map(|fd| fd.into_raw_fd() as u32)
    }

    fn finish(self, result: io::Result<u32>) -> io::Result<OwnedFd> {
        // SAFETY: a success is a new descriptor, passed on here once.
        result.map(|fd| unsafe { OwnedFd::from_raw_fd(fd as i32) })
    }
}
