//! UDP: what datagram sockets of the internet have beyond those of other protocols.

use crate::addr::ToSocketAddrs;
use crate::datagram::Datagram;
use crate::io::IoBuf;
use crate::protocol::Tcp;
use crate::resolve;
use raddle_driver::RawAddr;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};

/// A UDP socket. The methods are those of [`Datagram`].
pub type UdpSocket = Datagram<Tcp>;

impl Datagram<Tcp> {
    /// Makes a socket with the address `addr`; if that stands for several, the first that can be
    /// bound. Port 0 lets the kernel choose. `[::]` takes IPv4 too.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn bind(addr: impl ToSocketAddrs) -> io::Result<UdpSocket> {
        resolve::first(addr, |addr| {
            let domain = Domain::for_address(addr);
            let kind = Type::DGRAM.nonblocking().cloexec();
            let socket = Socket::new_raw(domain, kind, Some(Protocol::UDP))?;
            if addr.is_ipv6() {
                // Whatever the system's default is.
                socket.set_only_v6(false)?;
            }
            socket.bind(&addr.into())?;
            Ok(Datagram::from_fd(OwnedFd::from(socket))?)
        })
        .await
    }

    /// Sets where [`send`](Datagram::send) sends to, and lets only datagrams from there in. If
    /// `addr` stands for several addresses, the first that works is taken.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn connect(&self, addr: impl ToSocketAddrs) -> io::Result<()> {
        resolve::first(addr, |addr| self.options().connect(&addr.into())).await
    }

    /// Sends a datagram to `target`; if that stands for several addresses, to the first.
    ///
    /// # Cancel safety
    ///
    /// A dropped future has sent nothing.
    pub async fn send_to(&self, buf: &[u8], target: impl ToSocketAddrs) -> io::Result<usize> {
        let addr = RawAddr::from(target_of(target).await?);
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
        target: SocketAddr,
    ) -> (io::Result<usize>, B) {
        self.send_to_owned_raw(buf, RawAddr::from(target)).await
    }

    /// Sends a datagram to `target` now.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room.
    pub fn try_send_to(&self, buf: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.try_send_to_raw(buf, &target.into())
    }

    /// Sends a datagram to `target`.
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.source().poll_send_to(cx, buf, &RawAddr::from(target))
    }

    /// Whether sending to broadcast addresses is allowed.
    pub fn broadcast(&self) -> io::Result<bool> {
        self.options().broadcast()
    }

    /// Sets `SO_BROADCAST`.
    pub fn set_broadcast(&self, on: bool) -> io::Result<()> {
        self.options().set_broadcast(on)
    }

    /// The time to live of packets sent.
    pub fn ttl(&self) -> io::Result<u32> {
        self.options().ttl_v4()
    }

    /// Sets the time to live of packets sent.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.options().set_ttl_v4(ttl)
    }

    /// Whether multicast datagrams sent come back to this machine.
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.options().multicast_loop_v4()
    }

    /// Sets `IP_MULTICAST_LOOP`.
    pub fn set_multicast_loop_v4(&self, on: bool) -> io::Result<()> {
        self.options().set_multicast_loop_v4(on)
    }

    /// The time to live of multicast packets sent.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.options().multicast_ttl_v4()
    }

    /// Sets the time to live of multicast packets sent.
    pub fn set_multicast_ttl_v4(&self, ttl: u32) -> io::Result<()> {
        self.options().set_multicast_ttl_v4(ttl)
    }

    /// Takes part in a multicast group, on the interface with the address `interface`.
    pub fn join_multicast_v4(&self, group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.options().join_multicast_v4(&group, &interface)
    }

    /// Leaves a multicast group.
    pub fn leave_multicast_v4(&self, group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.options().leave_multicast_v4(&group, &interface)
    }

    /// Takes part in a multicast group, on the interface with this index; 0 is any.
    pub fn join_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.options().join_multicast_v6(group, interface)
    }

    /// Leaves a multicast group.
    pub fn leave_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.options().leave_multicast_v6(group, interface)
    }
}

async fn target_of(target: impl ToSocketAddrs) -> io::Result<SocketAddr> {
    resolve::first(target, Ok).await
}
