//! Closing a file, with the error that `close` may report.

use crate::op::{Entry, Operation, Route, Submitted};
use crate::sys::{file, sqe::Sqe};
use std::io;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

/// See [`close()`].
#[derive(Debug)]
pub struct Close {
    fd: Option<OwnedFd>,
}

/// Closes a descriptor off the worker: the last close of a file may wait for a disk or a network.
///
/// The descriptor is closed also if the future is dropped.
#[track_caller]
pub fn close(fd: OwnedFd) -> Submitted<Close> {
    Submitted::new(Close { fd: Some(fd) })
}

// SAFETY: the entry names no memory.
unsafe impl Operation for Close {
    type Output = io::Result<()>;

    fn attempt(&mut self, _ring: bool) -> Option<io::Result<u32>> {
        None
    }

    fn entry(&mut self) -> Entry {
        let fd = self.fd.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        Entry(Sqe::close(fd))
    }

    fn route(&self) -> Route<'_> {
        Route::Offload
    }

    fn block(&mut self) -> io::Result<u32> {
        self.fd.take().map_or(Ok(0), |fd| file::close(fd).map(|()| 0))
    }

    fn finish(mut self, result: io::Result<u32>) -> io::Result<()> {
        // What was cancelled, or refused before it began (no error number), has not run: the
        // descriptor is still ours and closed here by its drop. After any other outcome of a
        // ring's close it is gone.
        let ran = match &result {
            Ok(_) => true,
            Err(error) => error.raw_os_error().is_some_and(|number| number != libc::ECANCELED),
        };
        if ran && let Some(fd) = self.fd.take() {
            let _ = fd.into_raw_fd();
        }
        result.map(drop)
    }
}
