//! Calls on files, pipes and other descriptors that are not sockets.

use super::errno::{check, check_len, retry};
use std::ffi::CStr;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Reads from the current position (pipes and the like).
#[inline]
pub(crate) fn read(fd: BorrowedFd<'_>, into: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
    // SAFETY: the slice is room for its length.
    retry(|| unsafe { check_len(libc::read(fd.as_raw_fd(), into.as_mut_ptr().cast(), into.len())) })
}

/// As [`read`], into several buffers. For sockets too: they are non-blocking.
pub(crate) fn read_vectored(fd: BorrowedFd<'_>, into: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
    let count = into.len().min(super::msg::MAX_SLICES) as libc::c_int;
    // SAFETY: IoSliceMut has the layout of iovec; the buffers are room for their lengths.
    retry(|| unsafe { check_len(libc::readv(fd.as_raw_fd(), into.as_ptr().cast(), count)) })
}

/// Writes at the current position. May raise SIGPIPE: see [`super::sigpipe`].
pub(crate) fn write_vectored(fd: BorrowedFd<'_>, from: &[IoSlice<'_>]) -> io::Result<usize> {
    let count = from.len().min(super::msg::MAX_SLICES) as libc::c_int;
    // SAFETY: IoSlice has the layout of iovec; the buffers are readable.
    retry(|| unsafe { check_len(libc::writev(fd.as_raw_fd(), from.as_ptr().cast(), count)) })
}

/// As [`write_vectored`] with flags of `pwritev2`.
pub(crate) fn write_vectored_flags(
    fd: BorrowedFd<'_>,
    from: &[IoSlice<'_>],
    flags: i32,
) -> io::Result<usize> {
    let count = from.len().min(super::msg::MAX_SLICES) as libc::c_int;
    let slices = from.as_ptr().cast();
    // SAFETY: IoSlice has the layout of iovec; the buffers are readable. −1 is "where it stands".
    retry(|| unsafe { check_len(libc::pwritev2(fd.as_raw_fd(), slices, count, -1, flags)) })
}

/// Reads at `offset`, or where the file stands if it is `None`. Blocks on a disk.
pub(crate) fn read_at(
    fd: BorrowedFd<'_>,
    into: &mut [MaybeUninit<u8>],
    offset: Option<u64>,
    flags: i32,
) -> io::Result<usize> {
    let slice = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let offset = position(offset)?;
    // SAFETY: the slice is room for its length.
    retry(|| unsafe {
        check_len(libc::preadv2(fd.as_raw_fd(), &raw const slice, 1, offset, flags))
    })
}

/// Writes at `offset`, or where the file stands if it is `None`. Blocks on a disk.
pub(crate) fn write_at(fd: BorrowedFd<'_>, from: &[u8], offset: Option<u64>) -> io::Result<usize> {
    let slice = libc::iovec { iov_base: from.as_ptr().cast_mut().cast(), iov_len: from.len() };
    let offset = position(offset)?;
    // SAFETY: the slice is readable for its length.
    retry(|| unsafe { check_len(libc::pwritev2(fd.as_raw_fd(), &raw const slice, 1, offset, 0)) })
}

/// The offset as the kernel takes it; −1 is "where the file stands".
fn position(offset: Option<u64>) -> io::Result<libc::off_t> {
    match offset {
        None => Ok(-1),
        Some(at) => libc::off_t::try_from(at)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "offset beyond 2^63 − 1")),
    }
}

/// Opens `path`.
pub(crate) fn open(path: &CStr, flags: i32, mode: libc::mode_t) -> io::Result<OwnedFd> {
    // SAFETY: the path ends with a zero byte; the descriptor returned is new and owned by nobody
    // else.
    retry(|| unsafe {
        let fd = check(libc::openat(libc::AT_FDCWD, path.as_ptr(), flags, mode))?;
        Ok(OwnedFd::from_raw_fd(fd))
    })
}

/// Writes what is cached of a file to its medium; without its metadata if `data_only`.
pub(crate) fn sync(fd: BorrowedFd<'_>, data_only: bool) -> io::Result<()> {
    // SAFETY: no pointer is passed.
    retry(|| unsafe {
        let fd = fd.as_raw_fd();
        check(if data_only { libc::fdatasync(fd) } else { libc::fsync(fd) }).map(drop)
    })
}

/// Closes, and says what `close` says. The descriptor is gone in any case.
pub(crate) fn close(fd: OwnedFd) -> io::Result<()> {
    use std::os::fd::IntoRawFd;
    // SAFETY: ownership is given up here; `close` is not repeated on EINTR, as Linux asks.
    check(unsafe { libc::close(fd.into_raw_fd()) }).map(drop)
}

/// Sets or clears O_NONBLOCK.
pub(crate) fn set_nonblocking(fd: BorrowedFd<'_>, on: bool) -> io::Result<()> {
    // SAFETY: no pointer is passed.
    unsafe {
        let old = check(libc::fcntl(fd.as_raw_fd(), libc::F_GETFL))?;
        let new = if on { old | libc::O_NONBLOCK } else { old & !libc::O_NONBLOCK };
        if new != old {
            check(libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, new))?;
        }
    }
    Ok(())
}
