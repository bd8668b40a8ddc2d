//! Unix sockets: streams, listeners and datagrams with names in the file system or abstract ones.
//!
//! Where a path is taken, one that begins with a zero byte is an abstract name: the bytes behind
//! it are the name, exactly. Functions that end in `_addr` take std's
//! [`SocketAddr`], which tells the two kinds apart by its type. A
//! file name may have 107 bytes and an abstract name too (besides the zero byte); what is longer
//! is refused with `InvalidInput`, never cut short.
//!
//! Binding makes a file that stays when the socket is gone, and fails with `AddrInUse` if there is
//! one: removing it is the caller's decision. Names are connected to and made on the calling
//! thread: a file name on a slow file system holds it up.

use crate::datagram::Datagram;
use crate::io::IoBuf;
use crate::listener::Listener;
use crate::protocol::{Unix, unix_to_raw};
use crate::stream::Stream;
use raddle_driver::{RawAddr, op};
use socket2::{Domain, SockAddr, Socket, Type};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::task::{Context, Poll};

mod cred;

pub use cred::UCred;
/// The address of a Unix socket.
pub use std::os::unix::net::SocketAddr;

/// A connected Unix stream. The methods are those of [`Stream`].
pub type UnixStream = Stream<Unix>;

/// A listening Unix socket. The methods are those of [`Listener`].
pub type UnixListener = Listener<Unix>;

/// A Unix datagram socket. The methods are those of [`Datagram`].
pub type UnixDatagram = Datagram<Unix>;

/// The reading half of a Unix stream, borrowed.
pub type ReadHalf<'a> = crate::split::ReadHalf<&'a UnixStream>;

/// The writing half of a Unix stream, borrowed.
pub type WriteHalf<'a> = crate::split::WriteHalf<&'a UnixStream>;

/// The reading half of a Unix stream, owned.
pub type OwnedReadHalf = crate::split::OwnedReadHalf<Unix>;

/// The writing half of a Unix stream, owned.
pub type OwnedWriteHalf = crate::split::OwnedWriteHalf<Unix>;

/// Connections that wait to be accepted, at most; the system's own limit may be lower.
const BACKLOG: i32 = 1024;

impl Stream<Unix> {
    /// Connects to the socket at `path`.
    ///
    /// # Errors
    ///
    /// `NotFound`, `ConnectionRefused`. If the listener's queue is full, this waits for room.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up.
    pub async fn connect(path: impl AsRef<Path>) -> io::Result<UnixStream> {
        connect(&path_to_raw(path.as_ref())?).await
    }

    /// Connects to the socket with the address `addr`. Otherwise as [`connect`](Self::connect).
    pub async fn connect_addr(addr: &SocketAddr) -> io::Result<UnixStream> {
        connect(&unix_to_raw(addr)?).await
    }

    /// Two streams that are connected to each other.
    ///
    /// # Errors
    ///
    /// The kernel gives no sockets, or this thread belongs to no runtime.
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let (a, b) = pair_of(Type::STREAM)?;
        Ok((Stream::from_fd(a)?, Stream::from_fd(b)?))
    }

    /// Who made the other end: the credentials it had when it connected, or listened.
    pub fn peer_cred(&self) -> io::Result<UCred> {
        UCred::of_peer(self.source())
    }
}

async fn connect(addr: &RawAddr) -> io::Result<UnixStream> {
    let stream = Stream::from_fd(socket(Type::STREAM)?)?;
    op::connect(stream.source(), *addr).await?;
    Ok(stream)
}

impl Listener<Unix> {
    /// Listens at `path`. Up to 1,024 connections wait to be accepted.
    ///
    /// # Errors
    ///
    /// `AddrInUse` if there is a file; `InvalidInput` if the path is too long or holds a zero
    /// byte; what the kernel says; this thread belongs to no runtime.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<UnixListener> {
        listen(&path_to_raw(path.as_ref())?)
    }

    /// Listens at the address `addr`. Otherwise as [`bind`](Self::bind).
    pub fn bind_addr(addr: &SocketAddr) -> io::Result<UnixListener> {
        listen(&unix_to_raw(addr)?)
    }
}

fn listen(addr: &RawAddr) -> io::Result<UnixListener> {
    let fd = socket(Type::STREAM)?;
    bind(&fd, addr)?;
    socket2::SockRef::from(&fd).listen(BACKLOG)?;
    Ok(Listener::from_fd(fd)?)
}

impl Datagram<Unix> {
    /// A socket with the name `path`.
    ///
    /// # Errors
    ///
    /// As [`UnixListener::bind`].
    pub fn bind(path: impl AsRef<Path>) -> io::Result<UnixDatagram> {
        let fd = socket(Type::DGRAM)?;
        bind(&fd, &path_to_raw(path.as_ref())?)?;
        Ok(Datagram::from_fd(fd)?)
    }

    /// A socket with the address `addr`.
    ///
    /// # Errors
    ///
    /// As [`UnixListener::bind`].
    pub fn bind_addr(addr: &SocketAddr) -> io::Result<UnixDatagram> {
        let fd = socket(Type::DGRAM)?;
        bind(&fd, &unix_to_raw(addr)?)?;
        Ok(Datagram::from_fd(fd)?)
    }

    /// A socket without a name: it can send, and receive where it is connected.
    pub fn unbound() -> io::Result<UnixDatagram> {
        Ok(Datagram::from_fd(socket(Type::DGRAM)?)?)
    }

    /// Two sockets that are connected to each other.
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (a, b) = pair_of(Type::DGRAM)?;
        Ok((Datagram::from_fd(a)?, Datagram::from_fd(b)?))
    }

    /// Sets where [`send`](Datagram::send) sends to, and lets only datagrams from there in.
    pub fn connect(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.options().connect(&to_socket2(&path_to_raw(path.as_ref())?))
    }

    /// As [`connect`](Self::connect), by address.
    pub fn connect_addr(&self, addr: &SocketAddr) -> io::Result<()> {
        self.options().connect(&to_socket2(&unix_to_raw(addr)?))
    }

    /// Sends a datagram to the socket at `path`.
    ///
    /// # Cancel safety
    ///
    /// A dropped future has sent nothing.
    pub async fn send_to(&self, buf: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        let addr = path_to_raw(path.as_ref())?;
        self.source().send_to(buf, &addr).await
    }

    /// As [`send_to`](Self::send_to), by address.
    pub async fn send_to_addr(&self, buf: &[u8], addr: &SocketAddr) -> io::Result<usize> {
        let addr = unix_to_raw(addr)?;
        self.source().send_to(buf, &addr).await
    }

    /// As [`send_to`](Self::send_to), from a buffer that is given away and comes back with the
    /// result. Allocates the message header.
    ///
    /// # Cancel safety
    ///
    /// A dropped future may have sent the datagram; it drops the buffer.
    pub async fn send_to_owned<B: IoBuf>(
        &self,
        buf: B,
        path: impl AsRef<Path>,
    ) -> (io::Result<usize>, B) {
        match path_to_raw(path.as_ref()) {
            Ok(addr) => self.send_to_owned_raw(buf, addr).await,
            Err(error) => (Err(error), buf),
        }
    }

    /// Sends a datagram to the socket at `path` now.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room.
    pub fn try_send_to(&self, buf: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        self.try_send_to_raw(buf, &to_socket2(&path_to_raw(path.as_ref())?))
    }

    /// Sends a datagram to the socket at `path`.
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        path: impl AsRef<Path>,
    ) -> Poll<io::Result<usize>> {
        let addr = path_to_raw(path.as_ref())?;
        self.source().poll_send_to(cx, buf, &addr)
    }

    /// Ends receiving, sending or both.
    pub fn shutdown(&self, how: std::net::Shutdown) -> io::Result<()> {
        self.source().shutdown(how)
    }
}

/// The address that a path stands for: abstract if it begins with a zero byte.
fn path_to_raw(path: &Path) -> io::Result<RawAddr> {
    RawAddr::unix(path.as_os_str().as_bytes())
}

fn socket(kind: Type) -> io::Result<OwnedFd> {
    Socket::new_raw(Domain::UNIX, kind.nonblocking().cloexec(), None).map(OwnedFd::from)
}

fn pair_of(kind: Type) -> io::Result<(OwnedFd, OwnedFd)> {
    let (a, b) = Socket::pair_raw(Domain::UNIX, kind.nonblocking().cloexec(), None)?;
    Ok((a.into(), b.into()))
}

fn to_socket2(addr: &RawAddr) -> SockAddr {
    let mut storage = socket2::SockAddrStorage::zeroed();
    let bytes = size_of_val(&storage).min(addr.len() as usize);
    // SAFETY: both are plain bytes of at least this length, and a storage is its family's bytes.
    unsafe {
        std::ptr::copy_nonoverlapping(
            addr.as_ptr().cast::<u8>(),
            (&raw mut storage).cast::<u8>(),
            bytes,
        );
        SockAddr::new(storage, addr.len())
    }
}

fn bind(fd: &OwnedFd, addr: &RawAddr) -> io::Result<()> {
    // SAFETY: the address is readable for its length.
    match unsafe { libc::bind(fd.as_raw_fd(), addr.as_ptr(), addr.len()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
