//! A descriptor that tasks wait for: the owner's view, with both faces of I/O.

use crate::addr::RawAddr;
use crate::handle::Handle;
use crate::interest::Direction;
use crate::shell::{Attempt, Shell, SourceKind};
use crate::source::make::Refused;
use crate::sys::socket;
use crate::waiters::Seat;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::task::{Context, Poll};

mod futures;
pub(crate) mod make;

/// A descriptor on a driver.
///
/// It is made from a descriptor on a thread with a driver, and belongs to that driver's
/// backend. It can be read and written in two ways, which may be mixed:
///
/// * **Poll functions** (`poll_read` and so on), for those who write futures by hand. Of the tasks
///   that poll one direction, the latest is woken.
/// * **Futures** (`read`, `accept` and so on), any number at once: all that wait are woken, and
///   those that find nothing wait again. Dropping one loses nothing: bytes, datagrams and
///   connections belong to the source until they have been handed out.
///
/// All of them check and spend the task's budget. None allocates to wait.
///
/// **Close.** Dropping the source hangs up at once (`shutdown(2)`), from whichever thread, if an
/// operation still holds the descriptor; then cancels that operation, and the descriptor is closed
/// when the kernel lets go. A source whose open file is known elsewhere
/// ([`set_shared`](Self::set_shared)) is only cancelled and closed.
#[derive(Debug)]
pub struct Source {
    /// `None` only while being dropped or taken apart.
    handle: Option<Handle>,
}

impl Source {
    /// Takes a descriptor over and makes it non-blocking.
    ///
    /// # Errors
    ///
    /// There is no driver on this thread, this process is a forked child, or the descriptor
    /// cannot be made non-blocking. The descriptor comes back with the error, as it was.
    pub fn from_fd(fd: OwnedFd, kind: SourceKind) -> Result<Source, Refused> {
        make::handle(fd, kind).map(|handle| Source { handle: Some(handle) })
    }

    #[inline]
    pub(crate) fn handle(&self) -> &Handle {
        self.handle.as_ref().expect("a source has a handle until it is dropped")
    }

    /// The handle, for an attempt that nobody waits behind.
    fn asking(&self) -> &Handle {
        let handle = self.handle();
        handle.assume_nothing();
        handle
    }

    #[inline]
    fn shell(&self) -> &Shell {
        self.handle().shell()
    }

    /// What the descriptor is.
    pub fn kind(&self) -> SourceKind {
        self.shell().kind()
    }

    /// Says that the open file is known elsewhere too (it was duplicated, or its number passed
    /// on): closing this source then does not hang up the connection.
    pub fn set_shared(&self) {
        self.shell().set_shared();
    }

    /// Reads into `into`. `Ok(0)` is the end of input (or `into` is empty).
    pub fn poll_read(
        &self,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        let attempt = |handle: &Handle| handle.attempt_read(into);
        self.handle().drive(Direction::Read, Seat::Cell, cx, attempt)
    }

    /// As [`poll_read`](Self::poll_read), into several buffers.
    pub fn poll_read_vectored(
        &self,
        cx: &mut Context<'_>,
        into: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        let attempt = |handle: &Handle| handle.attempt_read_vectored(into);
        self.handle().drive(Direction::Read, Seat::Cell, cx, attempt)
    }

    /// As [`poll_read`](Self::poll_read), leaving the bytes to the next read. Sockets only.
    pub fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        let attempt = |handle: &Handle| handle.attempt_peek(into);
        self.handle().drive(Direction::Read, Seat::Cell, cx, attempt)
    }

    /// Writes what fits of `from`. Never raises SIGPIPE.
    ///
    /// Written means: taken over, in order, as after `send(2)`. On io_uring, small writes of one
    /// turn go to the kernel together, at its end; an error is then reported by the next write.
    pub fn poll_write(&self, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let attempt = |handle: &Handle| handle.attempt_write(from);
        self.handle().drive(Direction::Write, Seat::Cell, cx, attempt)
    }

    /// As [`poll_write`](Self::poll_write), from several buffers.
    pub fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let attempt = |handle: &Handle| handle.attempt_write_vectored(from);
        self.handle().drive(Direction::Write, Seat::Cell, cx, attempt)
    }

    /// Receives one datagram and where it came from; what does not fit is cut off.
    pub fn poll_recv_from(
        &self,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<(usize, RawAddr)>> {
        self.poll_io(cx, Direction::Read, |fd| socket::recv_from(fd, into, false))
    }

    /// As [`poll_recv_from`](Self::poll_recv_from), leaving the datagram to the next receive.
    pub fn poll_peek_from(
        &self,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<(usize, RawAddr)>> {
        self.poll_io(cx, Direction::Read, |fd| socket::recv_from(fd, into, true))
    }

    /// Sends one datagram to `addr`.
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        from: &[u8],
        addr: &RawAddr,
    ) -> Poll<io::Result<usize>> {
        self.poll_io(cx, Direction::Write, |fd| socket::send_to(fd, from, addr))
    }

    /// Accepts a connection: a non-blocking descriptor, closed on exec, and the peer's address.
    ///
    /// # Errors
    ///
    /// A shortage of descriptors is reported once; later calls wait until it is over, trying
    /// again after 50 ms and then every 100 ms.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(OwnedFd, RawAddr)>> {
        self.handle().drive(Direction::Read, Seat::Cell, cx, Handle::attempt_accept)
    }

    /// Any non-blocking call: repeated when the descriptor may be ready, until it gives something
    /// else than `WouldBlock`. On stream sockets use the functions above for reading.
    pub fn poll_io<T>(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        mut call: impl FnMut(BorrowedFd<'_>) -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        let attempt = |handle: &Handle| handle.attempt(direction, |shell| call(shell.fd()));
        self.handle().drive(direction, Seat::Cell, cx, attempt)
    }

    /// `Ready` when a read, receive or accept may give something.
    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.handle().poll_ready(Direction::Read, Seat::Cell, cx)
    }

    /// `Ready` when a write may succeed.
    pub fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.handle().poll_ready(Direction::Write, Seat::Cell, cx)
    }

    /// Reads what is there now.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is nothing.
    pub fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
        finished(self.asking().attempt_read(make::uninit(into)))
    }

    /// As [`try_read`](Self::try_read), leaving the bytes to the next read. Sockets only.
    pub fn try_peek(&self, into: &mut [u8]) -> io::Result<usize> {
        finished(self.asking().attempt_peek(make::uninit(into)))
    }

    /// As [`try_read`](Self::try_read), into several buffers.
    pub fn try_read_vectored(&self, into: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        finished(self.asking().attempt_read_vectored(into))
    }

    /// Writes what fits now.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if nothing fits.
    pub fn try_write(&self, from: &[u8]) -> io::Result<usize> {
        finished(self.asking().attempt_write(from))
    }

    /// As [`try_write`](Self::try_write), from several buffers.
    pub fn try_write_vectored(&self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        finished(self.asking().attempt_write_vectored(from))
    }

    /// Any non-blocking call, made once if the direction may be ready.
    ///
    /// # Errors
    ///
    /// What the call gives; `WouldBlock` if the descriptor is known not to be ready.
    pub fn try_io<T>(
        &self,
        direction: Direction,
        call: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>,
    ) -> io::Result<T> {
        finished(self.asking().attempt(direction, |shell| call(shell.fd())))
    }

    /// The error stored at the socket, which is cleared.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        socket::take_error(self.shell().fd())
    }

    /// Ends one or both directions of the connection. Writing ends after everything that was
    /// written has gone out, which this does not wait for.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.handle().shutdown(how)
    }

    /// Ends every wait on the source with an error, now and in future, and hangs up unless the
    /// source is shared. The descriptor is closed when the source is dropped and the kernel has
    /// let go.
    pub fn close(&self) {
        self.handle().close();
    }

    /// `Ready` when the driver makes no use of the descriptor any more: what waits in the kernel
    /// for a task that gave up waiting is cancelled. For before [`into_fd`](Self::into_fd), when
    /// nobody else uses the source.
    pub fn poll_unused(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.handle().poll_unused(cx)
    }

    /// Takes the source apart: the descriptor, still non-blocking.
    ///
    /// # Errors
    ///
    /// An operation still holds the descriptor, or bytes that were received are not read yet: the
    /// source comes back.
    pub fn into_fd(mut self) -> Result<OwnedFd, Source> {
        let Some(handle) = self.handle.take() else { unreachable!("see the field") };
        make::into_fd(handle).map_err(|handle| Source { handle: Some(handle) })
    }
}

fn finished<T>(attempt: Attempt<T>) -> io::Result<T> {
    match attempt {
        Attempt::Done(result) => result,
        Attempt::Blocked => Err(io::ErrorKind::WouldBlock.into()),
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            handle.abandon();
        }
    }
}

impl AsFd for Source {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shell().fd()
    }
}

impl AsRawFd for Source {
    fn as_raw_fd(&self) -> RawFd {
        self.shell().raw()
    }
}
