//! Waiting for a few descriptors at once, without registering them anywhere.

use super::epoll::{Limit, timespec};
use std::os::fd::RawFd;
use std::ptr;

/// Asks whether `fd` is readable.
pub(crate) fn readable(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// Waits until one of them has what it is asked for, or until the limit, to the nanosecond. Early
/// if a signal came, and at once if the kernel lacks the memory.
pub(crate) fn wait(asked: &mut [libc::pollfd], limit: Limit) {
    let time = match limit {
        Limit::Now => return,
        Limit::Forever => None,
        Limit::For(time) => Some(timespec(time)),
    };
    let time = time.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: as many entries as it is told, which live for the call, as the time does; no signal
    // mask is given. Who waits looks at its descriptors whatever comes back.
    unsafe { libc::ppoll(asked.as_mut_ptr(), asked.len() as libc::nfds_t, time, ptr::null()) };
}
