//! The futures of a source: any number may wait at once.

use super::{Source, make};
use crate::addr::RawAddr;
use crate::handle::Handle;
use crate::interest::Direction;
use crate::shell::Attempt;
use crate::sys::socket;
use crate::wait::{Attempting, Ready};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{BorrowedFd, OwnedFd};

impl Source {
    /// Reads into `into`. `Ok(0)` is the end of input.
    ///
    /// Dropping the future before it is ready takes no bytes.
    #[track_caller]
    pub fn read<'a>(
        &'a self,
        into: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.attempting(Direction::Read, |handle| handle.attempt_read(make::uninit(into)))
    }

    /// As [`read`](Self::read), leaving the bytes to the next read. Sockets only.
    #[track_caller]
    pub fn peek<'a>(
        &'a self,
        into: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.attempting(Direction::Read, |handle| handle.attempt_peek(make::uninit(into)))
    }

    /// Writes what fits of `from`; waits until at least one byte does.
    ///
    /// Dropping the future before it is ready writes nothing.
    #[track_caller]
    pub fn write<'a>(
        &'a self,
        from: &'a [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.attempting(Direction::Write, |handle| handle.attempt_write(from))
    }

    /// As [`read`](Self::read), into several buffers.
    #[track_caller]
    pub fn read_vectored<'a>(
        &'a self,
        into: &'a mut [IoSliceMut<'_>],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.attempting(Direction::Read, |handle| handle.attempt_read_vectored(into))
    }

    /// As [`write`](Self::write), from several buffers.
    #[track_caller]
    pub fn write_vectored<'a>(
        &'a self,
        from: &'a [IoSlice<'_>],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.attempting(Direction::Write, |handle| handle.attempt_write_vectored(from))
    }

    /// Receives one datagram and where it came from; what does not fit is cut off.
    #[track_caller]
    pub fn recv_from<'a>(
        &'a self,
        into: &'a mut [u8],
    ) -> impl Future<Output = io::Result<(usize, RawAddr)>> + Send + 'a {
        self.io(Direction::Read, move |fd| socket::recv_from(fd, make::uninit(into), false))
    }

    /// As [`recv_from`](Self::recv_from), leaving the datagram to the next receive.
    #[track_caller]
    pub fn peek_from<'a>(
        &'a self,
        into: &'a mut [u8],
    ) -> impl Future<Output = io::Result<(usize, RawAddr)>> + Send + 'a {
        self.io(Direction::Read, move |fd| socket::recv_from(fd, make::uninit(into), true))
    }

    /// Sends one datagram to `addr`.
    #[track_caller]
    pub fn send_to<'a>(
        &'a self,
        from: &'a [u8],
        addr: &'a RawAddr,
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.io(Direction::Write, move |fd| socket::send_to(fd, from, addr))
    }

    /// Accepts a connection, as [`poll_accept`](Self::poll_accept) does.
    ///
    /// Dropping the future loses no connection: one that is accepted late stays with the listener
    /// and is handed out first.
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(OwnedFd, RawAddr)>> + Send + '_ {
        self.attempting(Direction::Read, Handle::attempt_accept).or_give_up(Handle::stop_accepting)
    }

    /// Any non-blocking call, as [`poll_io`](Self::poll_io) makes it.
    #[track_caller]
    pub fn io<'a, T: 'a>(
        &'a self,
        direction: Direction,
        mut call: impl FnMut(BorrowedFd<'_>) -> io::Result<T> + Send + 'a,
    ) -> impl Future<Output = io::Result<T>> + Send + 'a {
        self.attempting(direction, move |handle| {
            handle.attempt(direction, |shell| call(shell.fd()))
        })
    }

    /// Waits until a read, receive or accept may give something.
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> + Send + '_ {
        Ready::new(self.handle(), Direction::Read)
    }

    /// Waits until a write may succeed.
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> + Send + '_ {
        Ready::new(self.handle(), Direction::Write)
    }

    #[track_caller]
    pub(crate) fn attempting<'a, T, F>(
        &'a self,
        direction: Direction,
        attempt: F,
    ) -> Attempting<'a, F>
    where
        F: FnMut(&Handle) -> Attempt<T> + Send + 'a,
    {
        Attempting::new(self.handle(), direction, attempt)
    }
}
