//! What sets one stream protocol apart from another: its addresses, its std types, its name.
//!
//! [`Stream`](crate::Stream) and [`Listener`](crate::Listener) are written once for all of them.

use raddle_driver::RawAddr;
use socket2::SockAddr;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::SocketAddr as UnixAddr;

/// A family of sockets. Implemented by [`Tcp`] and [`Unix`].
pub trait Protocol: Send + Sync + 'static {
    /// An address of the family.
    type Addr: Clone + fmt::Debug + Send + Sync;
    /// std's connected stream.
    type StdStream: From<OwnedFd> + Into<OwnedFd> + fmt::Debug;
    /// std's listener.
    type StdListener: From<OwnedFd> + Into<OwnedFd> + fmt::Debug;
    /// std's datagram socket.
    type StdDatagram: From<OwnedFd> + Into<OwnedFd> + fmt::Debug;

    /// The name of the family's stream type.
    const STREAM: &'static str;
    /// The name of the family's listener type.
    const LISTENER: &'static str;
    /// The name of the family's datagram type.
    const DATAGRAM: &'static str;

    /// An address as the driver has it.
    ///
    /// # Errors
    ///
    /// It belongs to another family.
    #[doc(hidden)]
    fn from_raw(addr: &RawAddr) -> io::Result<Self::Addr>;

    /// An address as `socket2` has it.
    ///
    /// # Errors
    ///
    /// It belongs to another family.
    #[doc(hidden)]
    fn from_socket2(addr: &SockAddr) -> io::Result<Self::Addr>;
}

/// Internet sockets: TCP for streams, UDP for datagrams.
#[derive(Clone, Copy, Debug)]
pub enum Tcp {}

/// Unix sockets, with file or abstract names.
#[derive(Clone, Copy, Debug)]
pub enum Unix {}

impl Protocol for Tcp {
    type Addr = std::net::SocketAddr;
    type StdStream = std::net::TcpStream;
    type StdListener = std::net::TcpListener;
    type StdDatagram = std::net::UdpSocket;

    const STREAM: &'static str = "TcpStream";
    const LISTENER: &'static str = "TcpListener";
    const DATAGRAM: &'static str = "UdpSocket";

    fn from_raw(addr: &RawAddr) -> io::Result<Self::Addr> {
        addr.as_inet().ok_or_else(other_family)
    }

    fn from_socket2(addr: &SockAddr) -> io::Result<Self::Addr> {
        addr.as_socket().ok_or_else(other_family)
    }
}

impl Protocol for Unix {
    type Addr = UnixAddr;
    type StdStream = std::os::unix::net::UnixStream;
    type StdListener = std::os::unix::net::UnixListener;
    type StdDatagram = std::os::unix::net::UnixDatagram;

    const STREAM: &'static str = "UnixStream";
    const LISTENER: &'static str = "UnixListener";
    const DATAGRAM: &'static str = "UnixDatagram";

    fn from_raw(addr: &RawAddr) -> io::Result<Self::Addr> {
        match addr.as_unix() {
            Some(path) => unix_from_bytes(path),
            // A datagram or connection of an unnamed socket may come without any address.
            None if addr.family() == 0 => unix_from_bytes(&[]),
            None => Err(other_family()),
        }
    }

    fn from_socket2(addr: &SockAddr) -> io::Result<Self::Addr> {
        if let Some(name) = addr.as_abstract_namespace() {
            return UnixAddr::from_abstract_name(name);
        }
        match addr.as_unix() {
            Some(addr) => Ok(addr),
            None if addr.is_unix() => unix_from_bytes(&[]),
            None => Err(other_family()),
        }
    }
}

/// The address with these bytes as path: abstract if the first is zero, unnamed if there are none.
fn unix_from_bytes(path: &[u8]) -> io::Result<UnixAddr> {
    match path.split_first() {
        Some((0, name)) => UnixAddr::from_abstract_name(name),
        _ => UnixAddr::from_pathname(OsStr::from_bytes(path)),
    }
}

/// A Unix address as the driver takes it.
pub(crate) fn unix_to_raw(addr: &UnixAddr) -> io::Result<RawAddr> {
    if let Some(name) = addr.as_abstract_name() {
        return RawAddr::unix(&[&[0], name].concat());
    }
    let path = addr.as_pathname().map_or(&[][..], |path| path.as_os_str().as_bytes());
    RawAddr::unix(path)
}

fn other_family() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "an address of another family")
}

#[cfg(test)]
#[path = "tests/protocol.rs"]
mod tests;
