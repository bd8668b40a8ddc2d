//! Asking the resolver for a name, off the workers.
//!
//! The system's resolver blocks and cannot be stopped: it runs on the blocking pool. Literal
//! addresses do not go there. There is no cache: the system's own is used.

use crate::addr::{AddrQuery, ToSocketAddrs};
use crate::blocking;
use std::io;
use std::net::SocketAddr;

/// The addresses that `host` stands for, in the resolver's order.
///
/// # Errors
///
/// What the resolver says; `InvalidInput` for a malformed string. An answer without any address
/// is an error too (`NotFound`).
///
/// # Cancel safety
///
/// Cancel-safe. A question that was begun goes on in the pool; its answer is dropped.
pub async fn lookup_host(
    host: impl ToSocketAddrs,
) -> io::Result<impl Iterator<Item = SocketAddr> + Send> {
    resolve(host.to_query()?).await
}

/// The answer to a query: one or more addresses.
#[derive(Debug)]
pub(crate) enum Addrs {
    One(Option<SocketAddr>),
    Many(std::vec::IntoIter<SocketAddr>),
}

impl Iterator for Addrs {
    type Item = SocketAddr;

    fn next(&mut self) -> Option<SocketAddr> {
        match self {
            Addrs::One(addr) => addr.take(),
            Addrs::Many(addrs) => addrs.next(),
        }
    }
}

pub(crate) async fn resolve(query: AddrQuery) -> io::Result<Addrs> {
    let addrs = match query {
        AddrQuery::One(addr) => return Ok(Addrs::One(Some(addr))),
        AddrQuery::Many(addrs) => addrs,
        AddrQuery::Name(host, port) => blocking::run(move || ask(&host, port)).await??,
    };
    if addrs.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "there is no address for this name"));
    }
    Ok(Addrs::Many(addrs.into_iter()))
}

fn ask(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    std::net::ToSocketAddrs::to_socket_addrs(&(host, port)).map(Iterator::collect)
}

/// Calls `attempt` for each address of `host` until it succeeds; the last error if none does.
pub(crate) async fn first<T>(
    host: impl ToSocketAddrs,
    mut attempt: impl FnMut(SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    let mut last = None;
    for addr in resolve(host.to_query()?).await? {
        match attempt(addr) {
            Ok(value) => return Ok(value),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}
