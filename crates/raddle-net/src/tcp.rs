//! TCP: what streams and listeners have beyond those of other protocols.

use crate::addr::ToSocketAddrs;
use crate::listener::Listener;
use crate::protocol::Tcp;
use crate::resolve;
use crate::socket::TcpSocket;
use crate::stream::Stream;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// A TCP connection. The methods are those of [`Stream`].
pub type TcpStream = Stream<Tcp>;

/// A listening TCP socket. The methods are those of [`Listener`].
pub type TcpListener = Listener<Tcp>;

/// The reading half of a TCP stream, borrowed.
pub type ReadHalf<'a> = crate::split::ReadHalf<&'a TcpStream>;

/// The writing half of a TCP stream, borrowed.
pub type WriteHalf<'a> = crate::split::WriteHalf<&'a TcpStream>;

/// The reading half of a TCP stream, owned.
pub type OwnedReadHalf = crate::split::OwnedReadHalf<Tcp>;

/// The writing half of a TCP stream, owned.
pub type OwnedWriteHalf = crate::split::OwnedWriteHalf<Tcp>;

/// Connections that wait to be accepted, at most; the system's own limit may be lower.
const BACKLOG: u32 = 1024;

impl Stream<Tcp> {
    /// Connects to `addr`. If it stands for several addresses they are tried in order.
    ///
    /// `TCP_NODELAY` is set on the new connection; [`TcpSocket`] leaves it to the caller.
    ///
    /// # Errors
    ///
    /// That of the last address that was tried (`ConnectionRefused` and so on).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up: what was begun is closed.
    pub async fn connect(addr: impl ToSocketAddrs) -> io::Result<TcpStream> {
        let mut last = None;
        for addr in resolve::resolve(addr.to_query()?).await? {
            match connect_one(addr).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
    }

    /// Whether small writes are sent at once.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.options().tcp_nodelay()
    }

    /// Sets `TCP_NODELAY`: small writes are sent at once, not gathered while an earlier one is
    /// unacknowledged.
    pub fn set_nodelay(&self, on: bool) -> io::Result<()> {
        self.options().set_tcp_nodelay(on)
    }

    /// How long data that was not sent yet is kept after the stream was dropped.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        self.options().linger()
    }

    /// Sets `SO_LINGER`. `None`, the default, sends what is left in the background. Zero resets
    /// the connection when the stream is dropped. Anything else makes the kernel wait when the
    /// descriptor is closed, on whichever thread that happens: avoid it.
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        self.options().set_linger(linger)
    }

    /// The time to live of packets sent.
    pub fn ttl(&self) -> io::Result<u32> {
        self.options().ttl_v4()
    }

    /// Sets the time to live of packets sent.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.options().set_ttl_v4(ttl)
    }

    /// Whether the kernel probes an idle connection.
    pub fn keepalive(&self) -> io::Result<bool> {
        self.options().keepalive()
    }

    /// Has the kernel probe an idle connection, so that a peer that vanished is noticed; `None`
    /// stops it.
    pub fn set_keepalive(&self, keepalive: Option<Keepalive>) -> io::Result<()> {
        set_keepalive(&self.options(), keepalive)
    }
}

async fn connect_one(addr: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_for(addr)?;
    socket.set_nodelay(true)?;
    socket.connect(addr).await
}

impl Listener<Tcp> {
    /// Listens at `addr`. If it stands for several addresses the first that can be bound is
    /// taken. Port 0 lets the kernel choose: see [`local_addr`](Listener::local_addr).
    ///
    /// `SO_REUSEADDR` is set, `[::]` takes IPv4 too, up to 1,024 connections wait to be accepted,
    /// and accepted connections have `TCP_NODELAY`; [`TcpSocket`] leaves all that to the caller.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn bind(addr: impl ToSocketAddrs) -> io::Result<TcpListener> {
        resolve::first(addr, |addr| {
            let socket = TcpSocket::new_for(addr)?;
            socket.set_reuseaddr(true)?;
            socket.set_nodelay(true)?;
            socket.bind(addr)?;
            socket.listen(BACKLOG)
        })
        .await
    }

    /// The time to live of packets sent.
    pub fn ttl(&self) -> io::Result<u32> {
        self.options().ttl_v4()
    }

    /// Sets the time to live of packets sent; accepted connections inherit it.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.options().set_ttl_v4(ttl)
    }
}

/// How the kernel probes an idle connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// How long the connection is idle before the first probe. Whole seconds.
    pub idle: Duration,
    /// The time between probes; the system's default if `None`. Whole seconds.
    pub interval: Option<Duration>,
    /// After so many unanswered probes the connection ends; the system's default if `None`.
    pub retries: Option<u32>,
}

impl Keepalive {
    /// Probes after `idle`, otherwise with the system's defaults.
    pub fn after(idle: Duration) -> Keepalive {
        Keepalive { idle, interval: None, retries: None }
    }
}

fn set_keepalive(options: &socket2::SockRef<'_>, keepalive: Option<Keepalive>) -> io::Result<()> {
    let Some(keepalive) = keepalive else { return options.set_keepalive(false) };
    let mut set = socket2::TcpKeepalive::new().with_time(keepalive.idle);
    if let Some(interval) = keepalive.interval {
        set = set.with_interval(interval);
    }
    if let Some(retries) = keepalive.retries {
        set = set.with_retries(retries);
    }
    options.set_tcp_keepalive(&set)
}
