//! raw-epoll: an echo server written by hand, the floor for a loop on epoll.
//!
//! One thread, level-triggered, one buffer for all connections; a request costs one `recv`, one
//! `send`, and its share of an `epoll_wait`.

use super::table;
use crate::contender::Contender;
use crate::load::epoll::{self, Epoll};
use crate::served::{Echo, Ready};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;

pub(super) const RAW_EPOLL: Contender = Contender {
    name: "raw-epoll",
    about: "a loop on epoll, by hand; echo only",
    entries: table::echo::<RawEpoll>,
    memory: || vec![table::memory_of_connections::<RawEpoll>()],
};

struct RawEpoll;

/// The listener's key; connections have their descriptor's number.
const LISTENER: u64 = u64::MAX;

impl Echo for RawEpoll {
    fn echo(ready: Ready) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("non-blocking");
        let mut epoll = Epoll::new(1024).expect("epoll");
        epoll.watch(&listener, LISTENER).expect("watched");
        ready.listening(listener.local_addr().expect("an address"));
        let mut connections: Vec<Option<TcpStream>> = Vec::new();
        let mut buffer = vec![0; 4096];
        loop {
            let n = epoll.wait(-1).expect("epoll waits");
            for place in 0..n {
                match epoll.key(place) {
                    LISTENER => accept(&listener, &epoll, &mut connections),
                    fd => serve(&mut connections[fd as usize], &mut buffer),
                }
            }
        }
    }
}

fn accept(listener: &TcpListener, epoll: &Epoll, connections: &mut Vec<Option<TcpStream>>) {
    while let Ok((stream, _)) = listener.accept() {
        stream.set_nodelay(true).expect("no delay");
        stream.set_nonblocking(true).expect("non-blocking");
        let fd = stream.as_raw_fd() as usize;
        epoll.watch(&stream, fd as u64).expect("watched");
        if connections.len() <= fd {
            connections.resize_with(fd + 1, || None);
        }
        connections[fd] = Some(stream);
    }
}

/// Reads once and writes back. A message is far smaller than a socket's buffer: a full one means a
/// client that does not read, which is dropped.
#[inline]
fn serve(connection: &mut Option<TcpStream>, buffer: &mut [u8]) {
    let Some(stream) = connection else { return };
    let fd = stream.as_raw_fd();
    let n = match epoll::recv(fd, buffer) {
        Ok(None) => return,
        Ok(Some(n)) => n,
        Err(_) => 0,
    };
    if n == 0 || !matches!(epoll::send(fd, &buffer[..n]), Ok(Some(sent)) if sent == n) {
        *connection = None;
    }
}
