//! A counter in the kernel that a poll can wait for: how other threads reach a sleeping one.

use super::errno::{check, check_len};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A new eventfd, non-blocking and closed on exec.
pub(crate) fn create() -> io::Result<OwnedFd> {
    // SAFETY: no pointer is passed; the descriptor returned is new and owned by nobody else.
    unsafe {
        let fd = check(libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Adds one to the counter: whoever polls the descriptor gets an edge.
///
/// The counter is never read, so it may in principle be full after 2^64 − 2 rings; it is readable
/// then as before, and the error is of no consequence.
pub(crate) fn ring(fd: &OwnedFd) -> io::Result<()> {
    let one = 1u64.to_ne_bytes();
    // SAFETY: the buffer is eight live bytes.
    let written = unsafe { libc::write(fd.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    check_len(written).map(drop)
}
