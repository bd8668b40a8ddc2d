//! The system calls that the load generator and the hand-written server make.
//!
//! Level-triggered throughout: with requests that fit one read, edge triggering would cost a second
//! read each to see `EAGAIN`.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// An epoll instance with room for the events of one turn.
pub(crate) struct Epoll {
    fd: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Epoll {
    /// `room`: how many events one turn may bring.
    pub(crate) fn new(room: usize) -> io::Result<Epoll> {
        // SAFETY: epoll_create1 takes flags only.
        let fd = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: `fd` is fresh, open, and owned by nobody else.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Epoll { fd, events: vec![libc::epoll_event { events: 0, u64: 0 }; room] })
    }

    /// Watches a descriptor for input; `key` comes back with its events.
    pub(crate) fn watch(&self, fd: &impl AsRawFd, key: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: key };
        let (epoll, fd) = (self.fd.as_raw_fd(), fd.as_raw_fd());
        // SAFETY: both descriptors are open; the kernel copies `event`.
        check(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &mut event) })?;
        Ok(())
    }

    /// Waits up to `timeout` ms (-1: for ever, 0: not at all); how many are ready.
    pub(crate) fn wait(&mut self, timeout: i32) -> io::Result<usize> {
        let (epoll, room) = (self.fd.as_raw_fd(), self.events.len() as i32);
        // SAFETY: `events` has `room` initialised places, which the kernel overwrites.
        let code = unsafe { libc::epoll_wait(epoll, self.events.as_mut_ptr(), room, timeout) };
        match check(code) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            other => Ok(other? as usize),
        }
    }

    /// The key of event number `place` of the last wait.
    #[inline]
    pub(crate) fn key(&self, place: usize) -> u64 {
        self.events[place].u64
    }
}

/// One `recv`; `None` when nothing is there.
#[inline]
pub(crate) fn recv(fd: RawFd, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    // SAFETY: `buffer` is ours and as long as said.
    let n = unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0) };
    amount(n)
}

/// One `send`; `None` when the socket is full.
#[inline]
pub(crate) fn send(fd: RawFd, bytes: &[u8]) -> io::Result<Option<usize>> {
    // SAFETY: `bytes` is readable and as long as said.
    let n = unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
    amount(n)
}

#[inline]
fn amount(n: isize) -> io::Result<Option<usize>> {
    if n >= 0 {
        return Ok(Some(n as usize));
    }
    let error = io::Error::last_os_error();
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
        _ => Err(error),
    }
}

fn check(code: i32) -> io::Result<i32> {
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(code) }
}
