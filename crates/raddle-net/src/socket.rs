//! A TCP socket before it is connected or listens, for those who set options first.

use crate::convert::ConvertError;
use crate::listener::Listener;
use crate::protocol::Tcp;
use crate::stream::Stream;
use raddle_driver::{RawAddr, op};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

/// A TCP socket that is neither connected nor listening.
///
/// ```no_run
/// # async fn example() -> std::io::Result<()> {
/// use raddle_net::TcpSocket;
/// let socket = TcpSocket::new_v4()?;
/// socket.set_reuseaddr(true)?;
/// socket.bind("127.0.0.1:0".parse().unwrap())?;
/// let listener = socket.listen(128)?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct TcpSocket {
    socket: Socket,
}

impl TcpSocket {
    /// A socket for IPv4. Needs no runtime yet.
    pub fn new_v4() -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::IPV4)
    }

    /// A socket for IPv6, and for IPv4 through mapped addresses unless
    /// [`set_only_v6`](Self::set_only_v6) forbids it. Needs no runtime yet.
    pub fn new_v6() -> io::Result<TcpSocket> {
        let socket = TcpSocket::new(Domain::IPV6)?;
        // Whatever the system's default is.
        socket.set_only_v6(false)?;
        Ok(socket)
    }

    /// A socket for the family of `addr`.
    pub fn new_for(addr: SocketAddr) -> io::Result<TcpSocket> {
        match addr {
            SocketAddr::V4(_) => TcpSocket::new_v4(),
            SocketAddr::V6(_) => TcpSocket::new_v6(),
        }
    }

    fn new(domain: Domain) -> io::Result<TcpSocket> {
        let kind = Type::STREAM.nonblocking().cloexec();
        Socket::new_raw(domain, kind, Some(Protocol::TCP)).map(|socket| TcpSocket { socket })
    }

    /// Takes a socket of std over that is not connected yet; it becomes non-blocking.
    ///
    /// # Errors
    ///
    /// The mode cannot be set. The socket comes back as it was.
    pub fn from_std_stream(
        stream: std::net::TcpStream,
    ) -> Result<TcpSocket, ConvertError<std::net::TcpStream>> {
        match stream.set_nonblocking(true) {
            Ok(()) => Ok(TcpSocket { socket: stream.into() }),
            Err(error) => Err(ConvertError::new(error, stream)),
        }
    }

    /// Gives the socket its own address; port 0 lets the kernel choose.
    pub fn bind(&self, addr: SocketAddr) -> io::Result<()> {
        self.socket.bind(&addr.into())
    }

    /// Connects.
    ///
    /// # Errors
    ///
    /// What the kernel says; this thread belongs to no runtime. The socket is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up and closes the socket.
    pub async fn connect(self, addr: SocketAddr) -> io::Result<Stream<Tcp>> {
        let stream = Stream::from_fd(OwnedFd::from(self.socket))?;
        op::connect(stream.source(), RawAddr::from(addr)).await?;
        Ok(stream)
    }

    /// Begins to listen. At most `backlog` connections wait to be accepted; the system's own
    /// limit may be lower.
    ///
    /// # Errors
    ///
    /// What the kernel says; this thread belongs to no runtime. The socket is closed.
    pub fn listen(self, backlog: u32) -> io::Result<Listener<Tcp>> {
        self.socket.listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        Ok(Listener::from_fd(OwnedFd::from(self.socket))?)
    }

    /// The address of this end, if it is bound.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let addr = self.socket.local_addr()?;
        addr.as_socket().ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// The error that is stored at the socket, if there is one. It is cleared.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }

    /// Whether an address may be bound while old connections of it linger.
    pub fn reuseaddr(&self) -> io::Result<bool> {
        self.socket.reuse_address()
    }

    /// Sets `SO_REUSEADDR`.
    pub fn set_reuseaddr(&self, on: bool) -> io::Result<()> {
        self.socket.set_reuse_address(on)
    }

    /// Whether several sockets may listen at one address.
    pub fn reuseport(&self) -> io::Result<bool> {
        self.socket.reuse_port()
    }

    /// Sets `SO_REUSEPORT`.
    pub fn set_reuseport(&self, on: bool) -> io::Result<()> {
        self.socket.set_reuse_port(on)
    }

    /// Whether an IPv6 socket leaves IPv4 alone.
    pub fn only_v6(&self) -> io::Result<bool> {
        self.socket.only_v6()
    }

    /// Sets `IPV6_V6ONLY`.
    pub fn set_only_v6(&self, on: bool) -> io::Result<()> {
        self.socket.set_only_v6(on)
    }

    /// Whether small writes are sent at once.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.socket.tcp_nodelay()
    }

    /// Sets `TCP_NODELAY`; connections accepted from a listener inherit it.
    pub fn set_nodelay(&self, on: bool) -> io::Result<()> {
        self.socket.set_tcp_nodelay(on)
    }

    /// Whether the kernel probes an idle connection.
    pub fn keepalive(&self) -> io::Result<bool> {
        self.socket.keepalive()
    }

    /// Sets `SO_KEEPALIVE`, with the system's default times.
    pub fn set_keepalive(&self, on: bool) -> io::Result<()> {
        self.socket.set_keepalive(on)
    }

    /// See [`Stream::linger`].
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        self.socket.linger()
    }

    /// See [`Stream::set_linger`].
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        self.socket.set_linger(linger)
    }

    /// The size of the kernel's receive buffer in bytes.
    pub fn recv_buffer_size(&self) -> io::Result<usize> {
        self.socket.recv_buffer_size()
    }

    /// Sets the size of the kernel's receive buffer; the kernel doubles it.
    pub fn set_recv_buffer_size(&self, bytes: usize) -> io::Result<()> {
        self.socket.set_recv_buffer_size(bytes)
    }

    /// The size of the kernel's send buffer in bytes.
    pub fn send_buffer_size(&self) -> io::Result<usize> {
        self.socket.send_buffer_size()
    }

    /// Sets the size of the kernel's send buffer; the kernel doubles it.
    pub fn set_send_buffer_size(&self, bytes: usize) -> io::Result<()> {
        self.socket.set_send_buffer_size(bytes)
    }
}

impl AsFd for TcpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for TcpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}
