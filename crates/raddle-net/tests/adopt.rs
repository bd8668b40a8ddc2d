//! Adopting sockets of std: they never block a worker, and a refused one stays the caller's.

mod support;

use raddle_net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use support::{on_each, polled, tcp_pair, watched};

fn std_pair() -> (std::net::TcpStream, std::net::TcpStream) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let a = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (a, listener.accept().unwrap().0)
}

fn is_nonblocking(fd: RawFd) -> bool {
    // SAFETY: no pointer is passed.
    unsafe { libc::fcntl(fd, libc::F_GETFL) & libc::O_NONBLOCK != 0 }
}

/// With one worker, a blocking read or write would stop the heartbeat and the peer for good.
#[test]
fn a_blocking_socket_stops_nobody() {
    on_each(|| async {
        let (a, mut peer) = std_pair();
        assert!(!is_nonblocking(a.as_raw_fd()));
        let stream = TcpStream::from_std(a).unwrap();
        assert!(is_nonblocking(stream.as_raw_fd()));
        let reader = raddle::spawn(async move {
            let mut got = Vec::new();
            stream.read_to_end(&mut got).await.unwrap();
            // More than fits: waits for the peer.
            stream.write_all(&vec![7; 8 << 20]).await.unwrap();
            got
        });
        for _ in 0..100 {
            raddle::task::yield_now().await;
        }
        let thread = std::thread::spawn(move || {
            peer.write_all(b"late").unwrap();
            peer.shutdown(std::net::Shutdown::Write).unwrap();
            let mut got = Vec::new();
            peer.read_to_end(&mut got).unwrap();
            got.len()
        });
        assert_eq!(reader.await.unwrap(), b"late");
        assert_eq!(thread.join().unwrap(), 8 << 20);
        let socket = UdpSocket::from_std(std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
        let socket = socket.unwrap();
        assert!(polled(socket.recv(&mut [0; 8]), 3).await.is_none());
        let (a, _b) = std::os::unix::net::UnixStream::pair().unwrap();
        let stream = UnixStream::from_std(a).unwrap();
        assert!(polled(stream.read(&mut [0; 8]), 3).await.is_none());
    });
}

#[test]
fn without_a_runtime_the_socket_comes_back_as_it_was() {
    watched(|| {
        let (a, mut peer) = std_pair();
        let number = a.as_raw_fd();
        let refused = TcpStream::from_std(a).unwrap_err();
        assert!(refused.to_string().contains("runtime"), "{refused}");
        let mut a = refused.into_inner();
        assert_eq!(a.as_raw_fd(), number);
        assert!(!is_nonblocking(number), "as it was");
        a.write_all(b"still usable").unwrap();
        let mut got = [0; 12];
        peer.read_exact(&mut got).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let listener = TcpListener::from_std(listener).unwrap_err().into_inner();
        listener.local_addr().unwrap();
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        UdpSocket::from_std(socket).unwrap_err().into_inner().local_addr().unwrap();
    });
}

/// Reads as std does, on a thread that may block: what was written here may be on its way only
/// when this worker goes on.
async fn blocking_read(
    mut std: std::net::TcpStream,
    expected: &'static [u8],
) -> std::net::TcpStream {
    let read = raddle::spawn_blocking(move || {
        std.set_nonblocking(false).unwrap();
        let mut got = vec![0; expected.len()];
        std.read_exact(&mut got).unwrap();
        assert_eq!(got, expected);
        std
    });
    read.await.unwrap()
}

#[test]
fn given_back_to_std() {
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        a.write_all(b"one").await.unwrap();
        assert_eq!(b.read(&mut [0; 8]).await.unwrap(), 3);
        // A wait that is over leaves nothing behind that would hold the descriptor for long.
        assert!(polled(b.read(&mut [0; 8]), 2).await.is_none());
        let std = b.into_std().await.unwrap();
        assert!(is_nonblocking(std.as_raw_fd()));
        a.write_all(b"two").await.unwrap();
        let std = blocking_read(std, b"two").await;
        // Bytes that nobody has read keep it.
        let c = TcpStream::from_std(std).unwrap();
        assert!(polled(c.read(&mut [0; 8]), 2).await.is_none());
        a.write_all(b"unread").await.unwrap();
        let std = loop {
            c.readable().await.unwrap();
            let mut all = [0; 6];
            if c.peek(&mut all).await.unwrap() == 6 {
                break match c.into_std().await {
                    Ok(std) => std,
                    Err(refused) => {
                        assert_eq!(refused.error.kind(), ErrorKind::ResourceBusy);
                        let c = refused.into_inner();
                        c.read_exact(&mut all).await.unwrap();
                        a.write_all(&all).await.unwrap();
                        c.into_std().await.unwrap()
                    }
                };
            }
        };
        let std = blocking_read(std, b"unread").await;
        // And back again.
        let b = TcpStream::from_std(std).unwrap();
        assert!(polled(b.read(&mut [0; 8]), 2).await.is_none());
        a.write_all(b"three").await.unwrap();
        assert_eq!(b.read(&mut [0; 8]).await.unwrap(), 5);
    });
}
