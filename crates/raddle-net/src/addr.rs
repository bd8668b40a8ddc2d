//! What one may connect or bind to: addresses, or names that have to be looked up.
//!
//! std's trait of this name blocks while it asks the resolver. Here a value only says what it
//! stands for; the asking is done by [`lookup_host`](crate::lookup_host), off the workers.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// What an address argument stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddrQuery {
    /// One address.
    One(SocketAddr),
    /// Several addresses, to be tried in order.
    Many(Vec<SocketAddr>),
    /// A name that the resolver is to be asked for, and a port.
    Name(String, u16),
}

/// A value that gives socket addresses, perhaps after a look-up.
///
/// Implemented for what std's trait is implemented for: addresses, pairs of host and port,
/// strings of the form `host:port`, and slices of addresses. A literal address in a string needs
/// no look-up and no allocation.
pub trait ToSocketAddrs {
    /// What the value stands for.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if a string is not of the form `host:port`.
    fn to_query(&self) -> io::Result<AddrQuery>;
}

impl ToSocketAddrs for SocketAddr {
    fn to_query(&self) -> io::Result<AddrQuery> {
        Ok(AddrQuery::One(*self))
    }
}

impl ToSocketAddrs for SocketAddrV4 {
    fn to_query(&self) -> io::Result<AddrQuery> {
        Ok(AddrQuery::One((*self).into()))
    }
}

impl ToSocketAddrs for SocketAddrV6 {
    fn to_query(&self) -> io::Result<AddrQuery> {
        Ok(AddrQuery::One((*self).into()))
    }
}

impl ToSocketAddrs for (IpAddr, u16) {
    fn to_query(&self) -> io::Result<AddrQuery> {
        Ok(AddrQuery::One((*self).into()))
    }
}

impl ToSocketAddrs for (Ipv4Addr, u16) {
    fn to_query(&self) -> io::Result<AddrQuery> {
        Ok(AddrQuery::One((*self).into()))
    }
}

impl ToSocketAddrs for (Ipv6Addr, u16) {
    fn to_query(&self) -> io::Result<AddrQuery> {
        Ok(AddrQuery::One((*self).into()))
    }
}

impl ToSocketAddrs for [SocketAddr] {
    fn to_query(&self) -> io::Result<AddrQuery> {
        Ok(AddrQuery::Many(self.to_vec()))
    }
}

impl<const N: usize> ToSocketAddrs for [SocketAddr; N] {
    fn to_query(&self) -> io::Result<AddrQuery> {
        self.as_slice().to_query()
    }
}

impl ToSocketAddrs for Vec<SocketAddr> {
    fn to_query(&self) -> io::Result<AddrQuery> {
        self.as_slice().to_query()
    }
}

impl ToSocketAddrs for (&str, u16) {
    fn to_query(&self) -> io::Result<AddrQuery> {
        let (host, port) = *self;
        Ok(match host.parse::<IpAddr>() {
            Ok(ip) => AddrQuery::One(SocketAddr::new(ip, port)),
            Err(_) => AddrQuery::Name(host.to_owned(), port),
        })
    }
}

impl ToSocketAddrs for (String, u16) {
    fn to_query(&self) -> io::Result<AddrQuery> {
        (self.0.as_str(), self.1).to_query()
    }
}

impl ToSocketAddrs for str {
    fn to_query(&self) -> io::Result<AddrQuery> {
        if let Ok(addr) = self.parse() {
            return Ok(AddrQuery::One(addr));
        }
        let Some((host, port)) = self.rsplit_once(':') else {
            return Err(invalid("a socket address has the form host:port"));
        };
        let port = port.parse().map_err(|_| invalid("the port is not a number below 65536"))?;
        Ok(AddrQuery::Name(host.to_owned(), port))
    }
}

impl ToSocketAddrs for String {
    fn to_query(&self) -> io::Result<AddrQuery> {
        self.as_str().to_query()
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {
    fn to_query(&self) -> io::Result<AddrQuery> {
        (**self).to_query()
    }
}

fn invalid(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

#[cfg(test)]
#[path = "tests/addr.rs"]
mod tests;
