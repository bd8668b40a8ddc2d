//! Calls on sockets. All of them are non-blocking, whatever the descriptor's flags say, and none
//! raises SIGPIPE.

use super::errno::{check, check_len, retry};
use crate::addr::RawAddr;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Receives into `into`; 0 is the end of a stream (or an empty datagram).
#[inline]
pub(crate) fn recv(fd: BorrowedFd<'_>, into: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
    receive(fd, into, 0)
}

/// As [`recv`], leaving the bytes where they are.
pub(crate) fn peek(fd: BorrowedFd<'_>, into: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
    receive(fd, into, libc::MSG_PEEK)
}

#[inline]
fn receive(fd: BorrowedFd<'_>, into: &mut [MaybeUninit<u8>], flags: i32) -> io::Result<usize> {
    let flags = flags | libc::MSG_DONTWAIT;
    // SAFETY: the slice is room for its length.
    retry(|| unsafe {
        check_len(libc::recv(fd.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), flags))
    })
}

/// Sends what it can of `from`.
#[inline]
pub(crate) fn send(fd: BorrowedFd<'_>, from: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the slice is readable for its length.
    retry(|| unsafe {
        check_len(libc::send(fd.as_raw_fd(), from.as_ptr().cast(), from.len(), flags))
    })
}

/// Sends what it can of several buffers, in order.
pub(crate) fn send_vectored(fd: BorrowedFd<'_>, from: &[IoSlice<'_>]) -> io::Result<usize> {
    let mut header = super::msg::header();
    header.msg_iov = from.as_ptr().cast_mut().cast();
    header.msg_iovlen = from.len().min(super::msg::MAX_SLICES);
    // SAFETY: IoSlice has the layout of iovec, and the buffers are readable.
    unsafe { super::msg::send(fd, &header) }
}

/// Receives one datagram and where it came from. A longer one is cut to the room.
pub(crate) fn recv_from(
    fd: BorrowedFd<'_>,
    into: &mut [MaybeUninit<u8>],
    peek: bool,
) -> io::Result<(usize, RawAddr)> {
    let flags = libc::MSG_DONTWAIT | if peek { libc::MSG_PEEK } else { 0 };
    let mut addr = RawAddr::empty();
    let (at, len) = addr.parts_mut();
    // SAFETY: the slice is room for its length, the address for what its length says.
    let count = retry(|| unsafe {
        let room = into.as_mut_ptr().cast();
        check_len(libc::recvfrom(fd.as_raw_fd(), room, into.len(), flags, at, len))
    })?;
    let len = addr.len();
    addr.set_len(len);
    Ok((count, addr))
}

/// Sends one datagram to `addr`.
pub(crate) fn send_to(fd: BorrowedFd<'_>, from: &[u8], addr: &RawAddr) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: buffer and address are readable for their lengths.
    retry(|| unsafe {
        let data = from.as_ptr().cast();
        check_len(libc::sendto(fd.as_raw_fd(), data, from.len(), flags, addr.as_ptr(), addr.len()))
    })
}

/// Accepts one connection, non-blocking and closed on exec.
pub(crate) fn accept(fd: BorrowedFd<'_>) -> io::Result<(OwnedFd, RawAddr)> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let mut addr = RawAddr::empty();
    let (at, len) = addr.parts_mut();
    // SAFETY: the address has room for what its length says; the descriptor returned is new and
    // owned by nobody else.
    let accepted = unsafe {
        let fd = retry(|| check(libc::accept4(fd.as_raw_fd(), at, len, flags)))?;
        OwnedFd::from_raw_fd(fd)
    };
    let len = addr.len();
    addr.set_len(len);
    Ok((accepted, addr))
}

/// Begins to connect a non-blocking socket. `EINPROGRESS` says that it will be writable when done.
pub(crate) fn connect(fd: BorrowedFd<'_>, addr: &RawAddr) -> io::Result<()> {
    // SAFETY: the address is readable for its length.
    check(unsafe { libc::connect(fd.as_raw_fd(), addr.as_ptr(), addr.len()) }).map(drop)
}

/// Ends a TCP connection by a reset. An error on others.
pub(crate) fn disconnect(fd: BorrowedFd<'_>) -> io::Result<()> {
    let nowhere =
        libc::sockaddr { sa_family: libc::AF_UNSPEC as libc::sa_family_t, sa_data: [0; 14] };
    let len = size_of::<libc::sockaddr>() as libc::socklen_t;
    // SAFETY: the address is readable for its length.
    check(unsafe { libc::connect(fd.as_raw_fd(), &raw const nowhere, len) }).map(drop)
}

/// Takes the error that is stored at the socket, `None` if there is none.
pub(crate) fn take_error(fd: BorrowedFd<'_>) -> io::Result<Option<io::Error>> {
    let mut error: libc::c_int = 0;
    let mut len = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: value and length are on this frame.
    check(unsafe {
        let value = (&raw mut error).cast();
        libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ERROR, value, &raw mut len)
    })?;
    Ok((error != 0).then(|| io::Error::from_raw_os_error(error)))
}

/// How long a TCP connection may wait for the peer to take what was sent. An error on others.
pub(crate) fn set_user_timeout(fd: BorrowedFd<'_>, limit: Duration) -> io::Result<()> {
    let millis = libc::c_uint::try_from(limit.as_millis()).unwrap_or(libc::c_uint::MAX);
    let (at, len) = ((&raw const millis).cast(), size_of_val(&millis) as libc::socklen_t);
    // SAFETY: the value is on this frame.
    check(unsafe {
        libc::setsockopt(fd.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, at, len)
    })
    .map(drop)
}

/// How long a close waits for what was sent to be taken; zero resets the connection instead.
pub(crate) fn set_linger(fd: BorrowedFd<'_>, time: Duration) -> io::Result<()> {
    let seconds = libc::c_int::try_from(time.as_secs()).unwrap_or(libc::c_int::MAX);
    let linger = libc::linger { l_onoff: 1, l_linger: seconds };
    let (at, len) = ((&raw const linger).cast(), size_of_val(&linger) as libc::socklen_t);
    // SAFETY: the value is on this frame.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, at, len) })
        .map(drop)
}

/// `WouldBlock` while a connection attempt is under way.
pub(crate) fn is_connected(fd: BorrowedFd<'_>) -> io::Result<()> {
    let mut peer = RawAddr::empty();
    let (at, len) = peer.parts_mut();
    // SAFETY: the address has room for what its length says.
    match check(unsafe { libc::getpeername(fd.as_raw_fd(), at, len) }) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => {
            Err(io::ErrorKind::WouldBlock.into())
        }
        Err(error) => Err(error),
    }
}

/// Ends one or both directions of a connection; a listener stops listening.
pub(crate) fn shutdown(fd: BorrowedFd<'_>, how: Shutdown) -> io::Result<()> {
    let how = match how {
        Shutdown::Read => libc::SHUT_RD,
        Shutdown::Write => libc::SHUT_WR,
        Shutdown::Both => libc::SHUT_RDWR,
    };
    // SAFETY: no pointer is passed.
    check(unsafe { libc::shutdown(fd.as_raw_fd(), how) }).map(drop)
}
