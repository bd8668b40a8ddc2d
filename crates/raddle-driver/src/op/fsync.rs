//! Writing what is cached of a file to its medium.

use crate::op::{Entry, Operation, Route, Submitted};
use crate::sys::{file, sqe::Sqe};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;

/// See [`fsync()`].
#[derive(Debug)]
pub struct Fsync {
    file: Arc<OwnedFd>,
    data_only: bool,
}

/// Waits until what was written to `file` is on its medium; with `data_only` metadata that is not
/// needed to read it back may be left out.
#[track_caller]
pub fn fsync(file: &Arc<OwnedFd>, data_only: bool) -> Submitted<Fsync> {
    Submitted::new(Fsync { file: Arc::clone(file), data_only })
}

// SAFETY: the entry names no memory; the descriptor is kept.
unsafe impl Operation for Fsync {
    type Output = io::Result<()>;

    fn attempt(&mut self, _ring: bool) -> Option<io::Result<u32>> {
        None
    }

    fn entry(&mut self) -> Entry {
        Entry(Sqe::fsync(self.file.as_raw_fd(), self.data_only))
    }

    fn route(&self) -> Route<'_> {
        Route::Offload
    }

    fn block(&mut self) -> io::Result<u32> {
        file::sync(self.file.as_fd(), self.data_only).map(|()| 0)
    }

    fn finish(self, result: io::Result<u32>) -> io::Result<()> {
        result.map(drop)
    }
}
