//! A datagram socket, written once for all protocols.
//!
//! [`UdpSocket`](crate::UdpSocket) and [`UnixDatagram`](crate::UnixDatagram) are names for
//! [`Datagram`]. Its futures take `&self`: any number of tasks may send and receive on one
//! socket. Of tasks that use the poll functions of one direction, the latest is woken.
//!
//! One send is one datagram and one receive takes one; a datagram longer than the buffer is cut
//! off. Empty datagrams are legal both ways, so an empty buffer is no special case here.
//!
//! **Cancel safety.** A dropped receive has taken no datagram, a dropped send has sent none,
//! except where said.

use crate::convert::ConvertError;
use crate::io::{Direction, Interest, IoBuf, IoBufMut, as_uninit};
use crate::protocol::Protocol;
use crate::ready::{self, Ready};
use raddle_driver::{RawAddr, Refused, Source, SourceKind, op};
use socket2::{SockAddr, SockRef};
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::task::{Context, Poll, ready};

/// A datagram socket. See the [module](self).
pub struct Datagram<P: Protocol> {
    source: Source,
    _protocol: PhantomData<fn() -> P>,
}

impl<P: Protocol> Datagram<P> {
    fn from_source(source: Source) -> Datagram<P> {
        Datagram { source, _protocol: PhantomData }
    }

    /// The descriptor comes back if there is no driver here.
    pub(crate) fn from_fd(fd: OwnedFd) -> Result<Datagram<P>, Refused> {
        Source::from_fd(fd, SourceKind::Datagram).map(Datagram::from_source)
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The socket for options: not a way by which the descriptor gets known elsewhere.
    pub(crate) fn options(&self) -> SockRef<'_> {
        SockRef::from(&self.source)
    }

    /// Takes a socket of std over. It is made non-blocking, whatever it was before.
    ///
    /// # Errors
    ///
    /// This thread belongs to no runtime, or the mode cannot be set. The socket comes back as it
    /// was.
    pub fn from_std(socket: P::StdDatagram) -> Result<Datagram<P>, ConvertError<P::StdDatagram>> {
        Datagram::from_fd(socket.into())
            .map_err(|refused| ConvertError::new(refused.error, refused.fd.into()))
    }

    /// The socket as std's, still in non-blocking mode. Waits for no more than that the kernel
    /// lets go of a read that was given up.
    ///
    /// # Errors
    ///
    /// An operation is still under way, or a datagram was received that nobody has taken yet.
    /// The socket comes back.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the socket.
    pub async fn into_std(self) -> Result<P::StdDatagram, ConvertError<Datagram<P>>> {
        std::future::poll_fn(|cx| self.source.poll_unused(cx)).await;
        match self.source.into_fd() {
            Ok(fd) => Ok(fd.into()),
            Err(source) => Err(ConvertError::busy(Datagram::from_source(source))),
        }
    }

    /// Sends a datagram to where the socket is connected to.
    ///
    /// # Errors
    ///
    /// `ConnectionRefused` if an earlier datagram met a closed port; `InvalidInput` or a message
    /// that is too long, as the kernel says.
    #[track_caller]
    pub fn send<'a>(
        &'a self,
        buf: &'a [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.source.write(buf)
    }

    /// Receives a datagram into `buf`: its length, cut to the buffer's.
    #[track_caller]
    pub fn recv<'a>(
        &'a self,
        buf: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.source.read(buf)
    }

    /// Receives a datagram into `buf`, with where it came from.
    #[track_caller]
    pub fn recv_from<'a>(
        &'a self,
        buf: &'a mut [u8],
    ) -> impl Future<Output = io::Result<(usize, P::Addr)>> + Send + 'a {
        let recv = self.source.recv_from(buf);
        async move {
            let (count, addr) = recv.await?;
            Ok((count, P::from_raw(&addr)?))
        }
    }

    /// As [`recv`](Self::recv), leaving the datagram to the next receive.
    #[track_caller]
    pub fn peek<'a>(
        &'a self,
        buf: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.source.peek(buf)
    }

    /// As [`recv_from`](Self::recv_from), leaving the datagram to the next receive.
    #[track_caller]
    pub fn peek_from<'a>(
        &'a self,
        buf: &'a mut [u8],
    ) -> impl Future<Output = io::Result<(usize, P::Addr)>> + Send + 'a {
        let peek = self.source.peek_from(buf);
        async move {
            let (count, addr) = peek.await?;
            Ok((count, P::from_raw(&addr)?))
        }
    }

    /// As [`send`](Self::send), from a buffer that is given away and comes back with the result.
    ///
    /// # Cancel safety
    ///
    /// A dropped future may have sent the datagram; it drops the buffer.
    pub async fn send_owned<B: IoBuf>(&self, buf: B) -> (io::Result<usize>, B) {
        op::send(&self.source, buf).await
    }

    /// As [`recv`](Self::recv), into a buffer that is given away and comes back with the result.
    pub async fn recv_owned<B: IoBufMut>(&self, buf: B) -> (io::Result<usize>, B) {
        op::recv(&self.source, buf).await
    }

    /// As [`recv_from`](Self::recv_from), into a buffer that is given away and comes back with
    /// the result.
    pub async fn recv_from_owned<B: IoBufMut>(&self, buf: B) -> (io::Result<(usize, P::Addr)>, B) {
        let (result, buf) = op::recv_from(&self.source, buf).await;
        let result = result.and_then(|(count, addr)| Ok((count, P::from_raw(&addr)?)));
        (result, buf)
    }

    pub(crate) async fn send_to_owned_raw<B: IoBuf>(
        &self,
        buf: B,
        addr: RawAddr,
    ) -> (io::Result<usize>, B) {
        let (result, mut bufs) = op::send_msg(&self.source, vec![buf], Some(addr)).await;
        (result, bufs.pop().expect("the buffers come back"))
    }

    /// Sends a datagram now.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room.
    pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
        self.source.try_write(buf)
    }

    /// Receives a datagram that is there now.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none.
    pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.source.try_read(buf)
    }

    /// As [`try_recv`](Self::try_recv), with where the datagram came from.
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, P::Addr)> {
        let (count, addr) = self.source.try_io(Direction::Read, |_| {
            // A socket that non-blocking mode was taken from elsewhere must not stop the worker.
            self.options().recv_from_with_flags(as_uninit(buf), libc::MSG_DONTWAIT)
        })?;
        Ok((count, P::from_socket2(&addr)?))
    }

    pub(crate) fn try_send_to_raw(&self, buf: &[u8], addr: &SockAddr) -> io::Result<usize> {
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        self.source
            .try_io(Direction::Write, |_| self.options().send_to_with_flags(buf, addr, flags))
    }

    /// Sends a datagram to where the socket is connected to.
    pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.source.poll_write(cx, buf)
    }

    /// Receives a datagram; room need not be initialised.
    pub fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        self.source.poll_read(cx, into)
    }

    /// Receives a datagram with where it came from; room need not be initialised.
    pub fn poll_recv_from(
        &self,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<(usize, P::Addr)>> {
        let (count, addr) = ready!(self.source.poll_recv_from(cx, into))?;
        Poll::Ready(Ok((count, P::from_raw(&addr)?)))
    }

    /// As [`poll_recv_from`](Self::poll_recv_from), leaving the datagram to the next receive.
    pub fn poll_peek_from(
        &self,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<(usize, P::Addr)>> {
        let (count, addr) = ready!(self.source.poll_peek_from(cx, into))?;
        Poll::Ready(Ok((count, P::from_raw(&addr)?)))
    }

    /// Waits until a receive may give something. May be wrong now and then.
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> + Send {
        self.source.readable()
    }

    /// Waits until a send may succeed. May be wrong now and then.
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> + Send {
        self.source.writable()
    }

    /// Waits until one of the directions in `interest` is ready.
    #[track_caller]
    pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> + Send {
        ready::ready(&self.source, interest)
    }

    /// `Ready` when a receive may give something.
    pub fn poll_recv_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.source.poll_readable(cx)
    }

    /// `Ready` when a send may succeed.
    pub fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.source.poll_writable(cx)
    }

    /// The address of this end.
    pub fn local_addr(&self) -> io::Result<P::Addr> {
        P::from_socket2(&self.options().local_addr()?)
    }

    /// The address the socket is connected to.
    ///
    /// # Errors
    ///
    /// `NotConnected` if it is not.
    pub fn peer_addr(&self) -> io::Result<P::Addr> {
        P::from_socket2(&self.options().peer_addr()?)
    }

    /// The error that is stored at the socket, if there is one. It is cleared.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.source.take_error()
    }

    /// The size of the kernel's receive buffer in bytes.
    pub fn recv_buffer_size(&self) -> io::Result<usize> {
        self.options().recv_buffer_size()
    }

    /// Sets the size of the kernel's receive buffer; the kernel doubles it.
    pub fn set_recv_buffer_size(&self, bytes: usize) -> io::Result<()> {
        self.options().set_recv_buffer_size(bytes)
    }

    /// The size of the kernel's send buffer in bytes.
    pub fn send_buffer_size(&self) -> io::Result<usize> {
        self.options().send_buffer_size()
    }

    /// Sets the size of the kernel's send buffer; the kernel doubles it.
    pub fn set_send_buffer_size(&self, bytes: usize) -> io::Result<()> {
        self.options().set_send_buffer_size(bytes)
    }
}

impl<P: Protocol> AsFd for Datagram<P> {
    /// The descriptor, which from now on counts as known elsewhere.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.source.set_shared();
        self.source.as_fd()
    }
}

impl<P: Protocol> AsRawFd for Datagram<P> {
    /// As [`as_fd`](AsFd::as_fd).
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl<P: Protocol> fmt::Debug for Datagram<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct(P::DATAGRAM);
        if let Ok(local) = self.local_addr() {
            debug.field("local", &local);
        }
        debug.field("fd", &self.source.as_raw_fd()).finish()
    }
}
