//! TCP through the public API: connecting, reading, writing, halves, ends and errors.

mod support;

use raddle_net::{Interest, TcpListener, TcpSocket, TcpStream, UnixStream};
use std::io::{ErrorKind, IoSlice, IoSliceMut};
use std::net::Shutdown;
use std::time::Duration;
use support::{on_each, pattern, polled, tcp_pair};

#[test]
fn echo_to_many_clients() {
    on_each(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let server = raddle::spawn(async move {
            for _ in 0..20 {
                let (stream, _) = listener.accept().await.unwrap();
                drop(raddle::spawn(async move {
                    let mut buf = vec![0; 1000];
                    loop {
                        match stream.read(&mut buf).await.unwrap() {
                            0 => break,
                            count => stream.write_all(&buf[..count]).await.unwrap(),
                        }
                    }
                }));
            }
        });
        let clients: Vec<_> = (0..20_usize)
            .map(|n| {
                raddle::spawn(async move {
                    let stream = TcpStream::connect(addr).await.unwrap();
                    let sent = pattern(n * 500 + 1);
                    let mut got = vec![0; sent.len()];
                    for _ in 0..5 {
                        stream.write_all(&sent).await.unwrap();
                        stream.read_exact(&mut got).await.unwrap();
                        assert!(got == sent, "client {n}");
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.unwrap();
        }
        server.await.unwrap();
    });
}

#[test]
fn addresses_and_options() {
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        assert_eq!(a.peer_addr().unwrap(), b.local_addr().unwrap());
        assert_eq!(b.peer_addr().unwrap(), a.local_addr().unwrap());
        assert!(a.nodelay().unwrap(), "set by connect");
        assert!(b.nodelay().unwrap(), "inherited from the listener");
        a.set_nodelay(false).unwrap();
        assert!(!a.nodelay().unwrap());
        a.set_linger(Some(Duration::from_secs(3))).unwrap();
        assert_eq!(a.linger().unwrap(), Some(Duration::from_secs(3)));
        a.set_linger(None).unwrap();
        a.set_ttl(77).unwrap();
        assert_eq!(a.ttl().unwrap(), 77);
        a.set_keepalive(Some(raddle_net::Keepalive::after(Duration::from_secs(60)))).unwrap();
        assert!(a.keepalive().unwrap());
        a.set_keepalive(None).unwrap();
        assert!(!a.keepalive().unwrap());
        assert!(a.take_error().unwrap().is_none());
    });
}

#[test]
fn half_close() {
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        a.write_all(b"request").await.unwrap();
        a.shutdown(Shutdown::Write).unwrap();
        let mut got = Vec::new();
        b.read_to_end(&mut got).await.unwrap();
        assert_eq!(got, b"request");
        b.write_all(b"answer").await.unwrap();
        drop(b);
        got.clear();
        a.read_to_end(&mut got).await.unwrap();
        assert_eq!(got, b"answer");
        assert_eq!(a.read(&mut [0; 8]).await.unwrap(), 0, "the end stays the end");
    });
}

#[test]
fn a_reset_is_an_error_and_a_vanished_peer_an_end() {
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        b.set_linger(Some(Duration::ZERO)).unwrap();
        drop(b);
        let error = a.read(&mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(a.read(&mut [0; 8]).await.unwrap(), 0, "the error comes once");

        let (a, b) = tcp_pair().await;
        let reader = raddle::spawn(async move { a.read(&mut [0; 8]).await });
        raddle::task::yield_now().await;
        drop(b);
        assert_eq!(reader.await.unwrap().unwrap(), 0);
    });
}

#[test]
fn writing_to_a_closed_peer_is_an_error_and_no_signal() {
    // The test harness may ignore SIGPIPE; the signal's default action ends the process.
    // SAFETY: sets a signal's action, no more.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        drop(b);
        let error = loop {
            if let Err(error) = a.write(b"is anybody there").await {
                break error;
            }
        };
        assert!(matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset));
        let error = a.write(b"again").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        let error = a.write_vectored(&[IoSlice::new(b"again")]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        let (result, _) = a.write_owned(vec![0; 16]).await;
        assert_eq!(result.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn refused_and_abandoned_connects() {
    on_each(|| async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let nobody = socket.local_addr().unwrap();
        let error = TcpStream::connect(nobody).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        // Several addresses: the first that works.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let both = [nobody, listener.local_addr().unwrap()];
        let stream = TcpStream::connect(both).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), both[1]);
        assert_eq!(
            TcpStream::connect("nonsense").await.unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
        assert_eq!(
            TcpStream::connect("a:99999").await.unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
        // A listener with a full queue answers nobody: what is given up is closed.
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let full = socket.listen(0).unwrap();
        let addr = full.local_addr().unwrap();
        let mut kept = Vec::new();
        let connect = || raddle::time::timeout(Duration::from_millis(20), TcpStream::connect(addr));
        while let Ok(stream) = connect().await {
            kept.push(stream.unwrap());
            assert!(kept.len() < 100, "the queue is never full");
        }
        // It takes what is in its queue all the same.
        for _ in &kept {
            full.accept().await.unwrap();
        }
    });
}

#[test]
fn names_are_resolved() {
    on_each(|| async {
        let listener = TcpListener::bind("localhost:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = raddle::spawn(async move { listener.accept().await.unwrap() });
        TcpStream::connect(("localhost", port)).await.unwrap();
        server.await.unwrap();
        let found: Vec<_> = raddle_net::lookup_host("localhost:80").await.unwrap().collect();
        assert!(found.iter().all(|addr| addr.ip().is_loopback() && addr.port() == 80));
        assert!(!found.is_empty());
        let found: Vec<_> = raddle_net::lookup_host("[::1]:80").await.unwrap().collect();
        assert_eq!(found, ["[::1]:80".parse().unwrap()]);
    });
}

#[test]
fn v6_listeners_take_v4() {
    on_each(|| async {
        let Ok(listener) = TcpListener::bind("[::]:0").await else {
            println!("no IPv6 here");
            return;
        };
        let port = listener.local_addr().unwrap().port();
        let server = raddle::spawn(async move {
            let first = listener.accept().await.unwrap().1;
            let second = listener.accept().await.unwrap().1;
            [first.ip().to_canonical(), second.ip().to_canonical()]
        });
        let four = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let six = TcpStream::connect(("::1", port)).await.unwrap();
        let peers = server.await.unwrap();
        assert_eq!(peers, [four.local_addr().unwrap().ip(), six.local_addr().unwrap().ip()]);
    });
}

#[test]
fn empty_buffers() {
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        assert_eq!(a.read(&mut []).await.unwrap(), 0);
        assert_eq!(a.write(&[]).await.unwrap(), 0);
        a.write_all(&[]).await.unwrap();
        a.read_exact(&mut []).await.unwrap();
        assert_eq!(a.peek(&mut []).await.unwrap(), 0);
        assert_eq!(a.try_read(&mut []).unwrap(), 0);
        assert_eq!(a.read_vectored(&mut []).await.unwrap(), 0);
        assert_eq!(a.write_vectored(&[]).await.unwrap(), 0);
        let (result, _) = a.read_owned(Vec::new()).await;
        assert_eq!(result.unwrap(), 0);
        let (result, _) = a.write_owned(Vec::new()).await;
        assert_eq!(result.unwrap(), 0);
        // Empty slices among others.
        let slices = [b"" as &[u8], b"ab", b"", b"cde"].map(IoSlice::new);
        assert_eq!(a.write_vectored(&slices).await.unwrap(), 5);
        let (mut none, mut one, mut rest) = ([0; 0], [0; 1], [0; 9]);
        b.readable().await.unwrap();
        let count = b
            .read_vectored(&mut [
                IoSliceMut::new(&mut none),
                IoSliceMut::new(&mut one),
                IoSliceMut::new(&mut rest),
            ])
            .await
            .unwrap();
        assert_eq!((count, &one, &rest[..4]), (5, b"a", &b"bcde"[..]));
    });
}

#[test]
fn attempts_readiness_and_peeking() {
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        assert_eq!(a.try_read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert!(polled(a.readable(), 3).await.is_none());
        assert!(a.ready(Interest::BOTH).await.unwrap().is_writable());
        b.write_all(b"hello").await.unwrap();
        a.readable().await.unwrap();
        let ready = a.ready(Interest::READABLE).await.unwrap();
        assert!(ready.is_readable() && !ready.is_writable());
        let mut buf = [0; 8];
        assert_eq!(a.peek(&mut buf).await.unwrap(), 5);
        assert_eq!(a.peek(&mut buf[..2]).await.unwrap(), 2);
        assert_eq!(a.try_read(&mut buf).unwrap(), 5);
        assert_eq!(&buf[..5], b"hello");
        assert_eq!(a.try_read(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        // Until it is full, and until there is room again. Not over TCP, whose bytes may go on from
        // one side's buffers to the other's while the writer is about to wait.
        let (a, b) = UnixStream::pair().unwrap();
        let chunk = pattern(1 << 16);
        let mut sent = 0;
        loop {
            match a.try_write(&chunk) {
                Ok(count) => sent += count,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    break;
                }
            }
        }
        assert!(polled(a.write(b"more"), 3).await.is_none());
        let mut got = 0;
        let mut room = vec![0; 1 << 16];
        while got < sent {
            got += b.read(&mut room).await.unwrap();
        }
        a.writable().await.unwrap();
        assert!(a.try_write(b"more").unwrap() > 0);
        assert_eq!(b.read(&mut room).await.unwrap(), 4, "the dropped write wrote nothing");
    });
}

#[test]
fn owned_buffers() {
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        let sent = pattern(3_000_000);
        let expected = sent.clone();
        let writer = raddle::spawn(async move {
            let (result, sent) = a.write_all_owned(sent).await;
            result.unwrap();
            let (result, parts) = a.write_vectored_owned(vec![vec![1, 2], vec![], vec![3]]).await;
            assert_eq!(result.unwrap(), 3);
            assert_eq!(parts.len(), 3);
            drop(a);
            sent
        });
        let mut got = Vec::new();
        let mut buf = Vec::with_capacity(10_000);
        loop {
            let result;
            (result, buf) = b.read_owned(buf).await;
            if result.unwrap() == 0 {
                break;
            }
            got.extend_from_slice(&buf);
        }
        assert_eq!(writer.await.unwrap(), expected);
        assert!(got[..expected.len()] == expected[..]);
        assert_eq!(got[expected.len()..], [1, 2, 3]);
    });
}
