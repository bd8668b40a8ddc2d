//! Every operation, on both backends, with the same results.

mod common;

use common::*;
use raddle_driver::{Source, SourceKind, op};
use std::ffi::CString;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn stream_reads_and_writes() {
    on_each(|world| {
        let (source, mut peer) = tcp_pair();
        peer.write_all(b"before").unwrap();
        world.block_on(async move {
            assert_eq!(read_exact(&source, 6).await, b"before");
            let waiting = async {
                let mut buf = [0; 64];
                let count = source.read(&mut buf).await.unwrap();
                buf[..count].to_vec()
            };
            let mut waiting = std::pin::pin!(waiting);
            assert!(once(waiting.as_mut()).await.is_none(), "nothing was sent yet");
            peer.write_all(b"later").unwrap();
            assert_eq!(waiting.await, b"later");
            write_all(&source, b"answer").await;
            let mut got = [0; 6];
            peer.read_exact(&mut got).unwrap();
            assert_eq!(&got, b"answer");
            drop(peer);
            assert_eq!(source.read(&mut [0; 8]).await.unwrap(), 0);
            assert_eq!(source.read(&mut [0; 8]).await.unwrap(), 0, "the end stays the end");
        });
    });
}

#[test]
fn large_transfers_arrive_whole_both_ways() {
    on_each(|world| {
        let (a, b) = std_pair();
        let (a, b) = (stream(a), stream(b));
        let data: Vec<u8> = (0..8_000_000u32).map(|n| (n ^ (n >> 8)) as u8).collect();
        let data = Arc::new(data);
        let expected = Arc::clone(&data);
        let sender = world.spawn(async move {
            write_all(&a, &data).await;
            a.shutdown(Shutdown::Write).unwrap();
            let echoed = read_exact(&a, data.len()).await;
            assert!(echoed == *data);
        });
        world.block_on(async move {
            let mut got = Vec::new();
            let mut buf = vec![0; 50_000];
            loop {
                let count = b.read(&mut buf).await.unwrap();
                if count == 0 {
                    break;
                }
                got.extend_from_slice(&buf[..count]);
            }
            assert!(got == *expected, "{} of {} bytes", got.len(), expected.len());
            write_all(&b, &got).await;
            sender.await;
        });
    });
}

#[test]
fn accept_and_connect() {
    on_each(|world| {
        let (listener, addr) = listener();
        let accepted = world.spawn(async move { listener.accept().await.unwrap() });
        world.block_on(async move {
            let socket = socket(libc::AF_INET, libc::SOCK_STREAM);
            let client = Source::from_fd(socket, SourceKind::Stream).unwrap();
            op::connect(&client, raw(addr)).await.unwrap();
            let (server, peer) = accepted.await;
            let local = std::net::TcpStream::from(client_fd(&client)).local_addr().unwrap();
            assert_eq!(peer.as_inet(), Some(local));
            let server = stream(server);
            write_all(&client, b"hello").await;
            assert_eq!(read_exact(&server, 5).await, b"hello");
        });
    });
}

#[test]
fn connect_refused_is_an_error() {
    on_each(|world| {
        // Bound and not listening, so that nobody else can be at the address.
        let (nobody, addr) = bound();
        let socket = socket(libc::AF_INET, libc::SOCK_STREAM);
        let client = Source::from_fd(socket, SourceKind::Stream).unwrap();
        let error = world.block_on(async move { op::connect(&client, raw(addr)).await });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::ConnectionRefused);
        drop(nobody);
    });
}

#[test]
fn datagrams_with_addresses() {
    on_each(|world| {
        let ((a, a_addr), (b, b_addr)) = (udp(), udp());
        world.block_on(async move {
            assert_eq!(a.send_to(b"one", &raw(b_addr)).await.unwrap(), 3);
            let mut buf = [0; 16];
            let (count, from) = b.peek_from(&mut buf).await.unwrap();
            assert_eq!((count, from.as_inet()), (3, Some(a_addr)));
            let (count, from) = b.recv_from(&mut buf).await.unwrap();
            assert_eq!((&buf[..count], from.as_inet()), (&b"one"[..], Some(a_addr)));
            let parts = vec![b"t".to_vec(), b"wo".to_vec()];
            let (sent, parts) = op::send_msg(&b, parts, Some(raw(a_addr))).await;
            assert_eq!((sent.unwrap(), parts.len()), (3, 2));
            let (got, buf) = op::recv_from(&a, Vec::with_capacity(16)).await;
            let (count, from) = got.unwrap();
            assert_eq!((count, from.as_inet()), (3, Some(b_addr)));
            assert_eq!(buf, b"two");
        });
    });
}

#[test]
fn owned_buffers_come_back() {
    on_each(|world| {
        let (source, mut peer) = tcp_pair();
        world.block_on(async move {
            let (sent, buf) = op::send(&source, b"owned".to_vec()).await;
            assert_eq!((sent.unwrap(), &buf[..]), (5, &b"owned"[..]));
            let mut got = [0; 5];
            peer.read_exact(&mut got).unwrap();
            peer.write_all(&got).unwrap();
            let (count, buf) = op::recv(&source, Vec::with_capacity(64)).await;
            assert_eq!((count.unwrap(), &buf[..]), (5, &b"owned"[..]));
        });
    });
}

#[test]
fn files() {
    on_each(|world| {
        let folder = std::env::temp_dir().join(format!("raddle-driver-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let name = folder.join(format!("{:?}", world.driver.backend()));
        let path = CString::new(name.as_os_str().as_bytes()).unwrap();
        world.block_on(async move {
            let flags = libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;
            let file = Arc::new(op::open(path.clone(), flags, 0o600).await.unwrap());
            let (count, _) = op::write(&file, b"0123456789".to_vec(), Some(0)).await;
            assert_eq!(count.unwrap(), 10);
            op::fsync(&file, false).await.unwrap();
            op::fsync(&file, true).await.unwrap();
            let (count, buf) = op::read(&file, Vec::with_capacity(4), Some(3)).await;
            assert_eq!((count.unwrap(), &buf[..]), (4, &b"3456"[..]));
            let (count, _) = op::read(&file, Vec::with_capacity(4), Some(10)).await;
            assert_eq!(count.unwrap(), 0);
            let (count, buf) = op::read(&file, Vec::with_capacity(4), None).await;
            assert_eq!((count.unwrap(), &buf[..]), (4, &b"0123"[..]));
            let file = Arc::into_inner(file).expect("no operation holds the file any more");
            op::close(file).await.unwrap();
            let missing = CString::new("/nonexistent/file").unwrap();
            let error = op::open(missing, libc::O_RDONLY, 0).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);
        });
        std::fs::remove_dir_all(&folder).unwrap();
    });
}

#[test]
fn peek_leaves_the_bytes() {
    on_each(|world| {
        let (source, mut peer) = tcp_pair();
        world.block_on(async move {
            let mut buf = [0; 8];
            assert!(once(source.peek(&mut buf)).await.is_none());
            peer.write_all(b"abc").unwrap();
            assert_eq!(source.peek(&mut buf).await.unwrap(), 3);
            assert_eq!(source.peek(&mut buf).await.unwrap(), 3);
            assert_eq!(read_exact(&source, 3).await, b"abc");
            assert!(once(source.peek(&mut buf)).await.is_none());
        });
    });
}

#[test]
fn pipes_and_readiness() {
    on_each(|world| {
        let (reader, writer) = pipe();
        let reader = Source::from_fd(reader, SourceKind::Pipe).unwrap();
        let writer = Source::from_fd(writer, SourceKind::Pipe).unwrap();
        world.block_on(async move {
            assert!(once(reader.readable()).await.is_none());
            writer.writable().await.unwrap();
            write_all(&writer, b"x").await;
            reader.readable().await.unwrap();
            assert_eq!(read_exact(&reader, 1).await, b"x");
            drop(writer);
            assert_eq!(reader.read(&mut [0; 4]).await.unwrap(), 0);
        });
    });
}

#[test]
fn readable_streams_keep_their_bytes() {
    on_each(|world| {
        let (source, mut peer) = tcp_pair();
        world.block_on(async move {
            assert!(once(source.readable()).await.is_none());
            peer.write_all(b"abc").unwrap();
            source.readable().await.unwrap();
            let mut buf = [0; 8];
            assert_eq!(source.try_read(&mut buf).unwrap(), 3);
            assert_eq!(source.try_read(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        });
    });
}

#[test]
fn park_ends_at_its_deadline() {
    on_each(|world| {
        let begin = raddle_base::clock::Instant::now();
        let deadline = begin + Duration::from_micros(2500);
        while raddle_base::clock::Instant::now() < deadline {
            world.driver.park(Some(deadline));
        }
        assert!(world.parks.get() == 0);
    });
}

fn socket(family: i32, kind: i32) -> OwnedFd {
    use std::os::fd::FromRawFd;
    // SAFETY: a new descriptor, owned by nobody else.
    unsafe {
        let fd = libc::socket(family, kind | libc::SOCK_CLOEXEC, 0);
        assert!(fd >= 0);
        OwnedFd::from_raw_fd(fd)
    }
}

/// A socket with an address of its own, at which it does not listen.
fn bound() -> (TcpStream, SocketAddr) {
    let socket = TcpStream::from(socket(libc::AF_INET, libc::SOCK_STREAM));
    let wanted = raw(loopback());
    // SAFETY: the address is on this frame and as long as it says.
    let code = unsafe { libc::bind(socket.as_raw_fd(), wanted.as_ptr(), wanted.len()) };
    assert_eq!(code, 0);
    let addr = socket.local_addr().unwrap();
    (socket, addr)
}

fn client_fd(source: &Source) -> OwnedFd {
    use std::os::fd::AsFd;
    source.as_fd().try_clone_to_owned().unwrap()
}

#[test]
fn adopting_makes_non_blocking() {
    on_each(|world| {
        let (a, b) = std_pair();
        drop(b);
        let probe = TcpStream::from(client_fd(&stream(a)));
        // SAFETY: no pointer is passed.
        let flags = unsafe { libc::fcntl(probe.as_raw_fd(), libc::F_GETFL) };
        assert_ne!(flags & libc::O_NONBLOCK, 0);
        let _ = world;
    });
}
