//! epoll and the timerfd that stands in for its missing nanoseconds.

use super::errno::{check, check_len, retry};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// One event as the kernel writes it.
pub(crate) type Event = libc::epoll_event;

/// A new epoll descriptor, closed on exec.
pub(crate) fn create() -> io::Result<OwnedFd> {
    // SAFETY: no pointer is passed; the descriptor returned is new and owned by nobody else.
    unsafe { Ok(OwnedFd::from_raw_fd(check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?)) }
}

/// Registers `fd` for `events`; `data` comes back with each event.
pub(crate) fn add(epoll: &OwnedFd, fd: RawFd, events: u32, data: u64) -> io::Result<()> {
    let mut event = Event { events, u64: data };
    // SAFETY: `event` lives for the call, which copies it.
    check(unsafe { libc::epoll_ctl(epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &raw mut event) })
        .map(drop)
}

/// Removes `fd`. Called before the descriptor is closed, so that a duplicate of it elsewhere does
/// not keep the registration alive.
pub(crate) fn remove(epoll: &OwnedFd, fd: RawFd) -> io::Result<()> {
    // SAFETY: a removal reads no event.
    check(unsafe {
        libc::epoll_ctl(epoll.as_raw_fd(), libc::EPOLL_CTL_DEL, fd, std::ptr::null_mut())
    })
    .map(drop)
}

/// How long a wait may last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Return at once.
    Now,
    /// Until an event comes.
    Forever,
    /// At most this long.
    For(Duration),
}

/// Waits with nanosecond resolution. `ENOSYS` where the kernel lacks `epoll_pwait2`.
pub(crate) fn wait<'a>(
    epoll: &OwnedFd,
    into: &'a mut [MaybeUninit<Event>],
    limit: Limit,
) -> io::Result<&'a [Event]> {
    let len = i32::try_from(into.len()).unwrap_or(i32::MAX);
    let count = match limit {
        // The older call is the cheaper one: no timespec to read.
        Limit::Now => wait_millis(epoll, into, 0)?,
        Limit::Forever => wait_millis(epoll, into, -1)?,
        Limit::For(time) => {
            let time = timespec(time);
            // SAFETY: room for `len` events is behind the pointer; the timespec is on this frame;
            // no signal mask is given.
            let count = unsafe {
                libc::syscall(
                    libc::SYS_epoll_pwait2,
                    epoll.as_raw_fd(),
                    into.as_mut_ptr(),
                    len,
                    &raw const time,
                    std::ptr::null::<libc::sigset_t>(),
                    0usize,
                )
            };
            super::errno::check_long(count)? as usize
        }
    };
    // SAFETY: the kernel has written the first `count` events.
    Ok(unsafe { std::slice::from_raw_parts(into.as_ptr().cast::<Event>(), count) })
}

/// Whether an event waits to be fetched. Takes none.
pub(crate) fn is_readable(epoll: &OwnedFd) -> bool {
    let mut asked = libc::pollfd { fd: epoll.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, on this frame. An error means that nothing is known: not readable.
    unsafe { libc::poll(&raw mut asked, 1, 0) == 1 }
}

fn wait_millis(epoll: &OwnedFd, into: &mut [MaybeUninit<Event>], millis: i32) -> io::Result<usize> {
    let len = i32::try_from(into.len()).unwrap_or(i32::MAX);
    // SAFETY: room for `len` events is behind the pointer.
    check(unsafe {
        libc::epoll_wait(epoll.as_raw_fd(), into.as_mut_ptr().cast::<Event>(), len, millis)
    })
    .map(|count| count as usize)
}

/// Whether `epoll_pwait2` exists here: asked with a descriptor that cannot be one.
pub(crate) fn has_nanoseconds() -> bool {
    // SAFETY: the descriptor is refused before any pointer is looked at.
    let result = unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            -1,
            std::ptr::null_mut::<Event>(),
            1,
            std::ptr::null::<libc::timespec>(),
            std::ptr::null::<libc::sigset_t>(),
            0usize,
        )
    };
    result == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::EBADF)
}

/// A timer descriptor of the monotonic clock.
pub(crate) fn timer() -> io::Result<OwnedFd> {
    let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
    // SAFETY: no pointer is passed; the descriptor returned is new and owned by nobody else.
    unsafe { Ok(OwnedFd::from_raw_fd(check(libc::timerfd_create(libc::CLOCK_MONOTONIC, flags))?)) }
}

/// Makes the timer readable once, `time` from now; zero disarms it.
pub(crate) fn set_timer(timer: &OwnedFd, time: Duration) -> io::Result<()> {
    let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let spec = libc::itimerspec { it_interval: none, it_value: timespec(time) };
    // SAFETY: the specification is on this frame; the old one is not asked for.
    check(unsafe {
        libc::timerfd_settime(timer.as_raw_fd(), 0, &raw const spec, std::ptr::null_mut())
    })
    .map(drop)
}

/// Takes the expiry of the timer, if there is one, so that it is not readable any more.
pub(crate) fn take_timer(timer: &OwnedFd) {
    let mut count = [0u8; 8];
    // SAFETY: eight bytes of room. An error means that nothing had expired.
    let _ = retry(|| unsafe {
        check_len(libc::read(timer.as_raw_fd(), count.as_mut_ptr().cast(), count.len()))
    });
}

/// As the kernel counts time; what it cannot hold is the longest it can.
pub(crate) fn timespec(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}
