//! Writing to a pipe without a reader, minus the signal.
//!
//! Sockets have `MSG_NOSIGNAL`. A pipe has `RWF_NOSIGNAL` since Linux 6.18; before that, the signal
//! is blocked for this thread, the write made, and the signal it raised taken back before the mask
//! is restored. A SIGPIPE that was pending before is left alone.

use super::file;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

const RWF_NOSIGNAL: i32 = 0x100;

/// Whether the flag was refused once. It only saves a call: no order is needed.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// Writes to a pipe or anything else that may raise SIGPIPE.
pub(crate) fn write_vectored(fd: BorrowedFd<'_>, from: &[IoSlice<'_>]) -> io::Result<usize> {
    // Relaxed: a hint; a stale value costs one refused call.
    if !REFUSED.load(Ordering::Relaxed) {
        match file::write_vectored_flags(fd, from, RWF_NOSIGNAL) {
            Err(error) if unsupported(&error) => REFUSED.store(true, Ordering::Relaxed),
            result => return result,
        }
    }
    write_masked(fd, from)
}

fn unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS))
}

fn write_masked(fd: BorrowedFd<'_>, from: &[IoSlice<'_>]) -> io::Result<usize> {
    let (pipe, old, pending) = block();
    let result = file::write_vectored(fd, from);
    let broken = matches!(&result, Err(error) if error.raw_os_error() == Some(libc::EPIPE));
    if broken && !pending {
        let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: set and time are on this frame; no information about the signal is asked for.
        unsafe { libc::sigtimedwait(&raw const pipe, std::ptr::null_mut(), &raw const none) };
    }
    // SAFETY: `old` was filled by `block` on this thread.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, std::ptr::null_mut()) };
    result
}

/// Blocks SIGPIPE on this thread: the set of it, the old mask, and whether one was pending.
fn block() -> (libc::sigset_t, libc::sigset_t, bool) {
    let mut pipe = MaybeUninit::<libc::sigset_t>::uninit();
    let mut old = MaybeUninit::<libc::sigset_t>::uninit();
    let mut pending = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: each set is filled by the first call that names it, before anything reads it; none
    // of these calls can fail with these arguments.
    unsafe {
        libc::sigemptyset(pipe.as_mut_ptr());
        libc::sigaddset(pipe.as_mut_ptr(), libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, pipe.as_ptr(), old.as_mut_ptr());
        libc::sigemptyset(pending.as_mut_ptr());
        libc::sigpending(pending.as_mut_ptr());
        let was_pending = libc::sigismember(pending.as_ptr(), libc::SIGPIPE) == 1;
        (pipe.assume_init(), old.assume_init(), was_pending)
    }
}
