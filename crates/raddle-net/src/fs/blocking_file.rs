//! What only std's file can do, on a thread that may block.

use crate::blocking;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Calls `call` with a duplicate of the descriptor, as std has it, on the blocking pool.
pub(super) async fn with<T: Send + 'static>(
    fd: Arc<OwnedFd>,
    call: impl FnOnce(&File) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    blocking::run(move || call(&File::from(fd.try_clone()?))).await?
}

/// The length of the file.
pub(super) async fn length(fd: Arc<OwnedFd>) -> io::Result<u64> {
    with(fd, |file| file.metadata().map(|metadata| metadata.len())).await
}
