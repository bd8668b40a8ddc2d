//! Message headers for calls that take several buffers or an address.

use super::errno::{check_len, retry};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The most buffers one call takes (`UIO_MAXIOV`).
pub(crate) const MAX_SLICES: usize = 1024;

/// A header that names nothing.
pub(crate) fn header() -> libc::msghdr {
    // SAFETY: a msghdr is plain integers and pointers, for which zero is a value.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// Sends what the header names, without blocking and without SIGPIPE.
///
/// # Safety
///
/// What the header names must be readable.
pub(crate) unsafe fn send(fd: BorrowedFd<'_>, header: &libc::msghdr) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: promised by the caller; the kernel does not write through a header that is sent.
    retry(|| unsafe { check_len(libc::sendmsg(fd.as_raw_fd(), header, flags)) })
}
