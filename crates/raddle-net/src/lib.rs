//! Sockets, files and signals on raddle's driver and runtime.
//!
//! Names and meanings are those of tokio and std where they have one. Sockets are made on a
//! thread of a runtime (or after [`Handle::enter`](raddle_runtime::Handle::enter)) and may be
//! used on all of its threads. They are never blocking, nothing here raises SIGPIPE, and no
//! method blocks a worker unless it says so.
//!
//! Where to start reading: [`stream`], written once for TCP and Unix, then [`listener`] and
//! [`split`]; [`datagram`] for the other kind of socket; [`fs`] and [`signal`] stand by
//! themselves.

pub mod datagram;
pub mod fs;
pub mod io;
pub mod listener;
pub mod signal;
pub mod split;
pub mod stream;
pub mod tcp;
pub mod unix;

mod addr;
mod blocking;
mod convert;
mod protocol;
mod ready;
mod resolve;
mod socket;
mod udp;

pub use addr::{AddrQuery, ToSocketAddrs};
pub use convert::ConvertError;
pub use datagram::Datagram;
pub use io::{Direction, Interest};
pub use listener::{Incoming, Listener};
pub use protocol::{Protocol, Tcp, Unix};
pub use ready::Ready;
pub use resolve::lookup_host;
pub use socket::TcpSocket;
pub use split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use stream::Stream;
pub use tcp::{Keepalive, TcpListener, TcpStream};
pub use udp::UdpSocket;
pub use unix::{UCred, UnixDatagram, UnixListener, UnixStream};
