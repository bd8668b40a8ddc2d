//! UDP through the public API: sending, receiving, connecting, sharing, cut and empty datagrams.

mod support;

use raddle_net::UdpSocket;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use support::{on_each, polled};

async fn pair() -> (UdpSocket, SocketAddr, UdpSocket, SocketAddr) {
    let a = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let b = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let (at_a, at_b) = (a.local_addr().unwrap(), b.local_addr().unwrap());
    (a, at_a, b, at_b)
}

#[test]
fn datagrams_with_addresses() {
    on_each(|| async {
        let (a, at_a, b, at_b) = pair().await;
        assert_eq!(a.send_to(b"hello", at_b).await.unwrap(), 5);
        let mut buf = [0; 64];
        assert_eq!(b.peek_from(&mut buf).await.unwrap(), (5, at_a));
        assert_eq!(b.recv_from(&mut buf).await.unwrap(), (5, at_a));
        assert_eq!(&buf[..5], b"hello");
        let (result, sent) = b.send_to_owned(b"owned".to_vec(), at_a).await;
        assert_eq!((result.unwrap(), &sent[..]), (5, &b"owned"[..]));
        let (result, got) = a.recv_from_owned(Vec::with_capacity(64)).await;
        assert_eq!((result.unwrap(), &got[..]), ((5, at_b), &b"owned"[..]));
        // Cut off, and empty.
        a.send_to(b"long enough", at_b).await.unwrap();
        a.send_to(b"", at_b).await.unwrap();
        a.send_to(b"tail", at_b).await.unwrap();
        assert_eq!(b.recv_from(&mut buf[..4]).await.unwrap().0, 4);
        assert_eq!(b.recv_from(&mut buf).await.unwrap(), (0, at_a));
        assert_eq!(b.recv_from(&mut []).await.unwrap().0, 0);
        assert_eq!(b.try_recv_from(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn connected_sockets() {
    on_each(|| async {
        let (a, at_a, b, at_b) = pair().await;
        assert_eq!(a.peer_addr().unwrap_err().kind(), ErrorKind::NotConnected);
        a.connect(at_b).await.unwrap();
        b.connect(at_a).await.unwrap();
        assert_eq!(a.peer_addr().unwrap(), at_b);
        a.send(b"ping").await.unwrap();
        let mut buf = [0; 64];
        assert_eq!(b.peek(&mut buf).await.unwrap(), 4);
        assert_eq!(b.recv(&mut buf).await.unwrap(), 4);
        assert!(polled(b.recv(&mut buf), 3).await.is_none());
        assert_eq!(b.try_recv(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        a.writable().await.unwrap();
        assert_eq!(a.try_send(b"").unwrap(), 0);
        assert_eq!(b.recv(&mut buf).await.unwrap(), 0, "an empty datagram is one");
        let (result, _) = a.send_owned(b"owned".to_vec()).await;
        assert_eq!(result.unwrap(), 5);
        b.readable().await.unwrap();
        let (result, got) = b.recv_owned(vec![0; 3]).await;
        assert_eq!((result.unwrap(), &got[..]), (3, &b"own"[..]));
        // A closed port answers the next call with an error, and that is all.
        drop(b);
        a.send(b"anybody").await.unwrap();
        let error = a.recv(&mut buf).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn several_tasks_share_a_socket() {
    on_each(|| async {
        let (a, _, b, at_b) = pair().await;
        let b = Arc::new(b);
        let receivers: Vec<_> = (0..4)
            .map(|_| {
                let b = Arc::clone(&b);
                raddle::spawn(async move {
                    let mut got = Vec::new();
                    let mut buf = [0; 8];
                    loop {
                        let (count, _) = b.recv_from(&mut buf).await.unwrap();
                        if count == 0 {
                            return got;
                        }
                        got.push(u32::from_ne_bytes(buf[..4].try_into().unwrap()));
                    }
                })
            })
            .collect();
        for n in 0..200_u32 {
            a.send_to(&n.to_ne_bytes(), at_b).await.unwrap();
            if n % 20 == 0 {
                raddle::task::yield_now().await;
            }
        }
        for _ in 0..4 {
            a.send_to(b"", at_b).await.unwrap();
        }
        let mut all = Vec::new();
        for receiver in receivers {
            all.extend(receiver.await.unwrap());
        }
        all.sort_unstable();
        assert_eq!(all, (0..200).collect::<Vec<u32>>());
    });
}

#[test]
fn options() {
    on_each(|| async {
        let (a, ..) = pair().await;
        a.set_broadcast(true).unwrap();
        assert!(a.broadcast().unwrap());
        a.set_ttl(33).unwrap();
        assert_eq!(a.ttl().unwrap(), 33);
        a.set_multicast_ttl_v4(2).unwrap();
        assert_eq!(a.multicast_ttl_v4().unwrap(), 2);
        a.set_multicast_loop_v4(false).unwrap();
        assert!(!a.multicast_loop_v4().unwrap());
        a.set_recv_buffer_size(16 << 10).unwrap();
        assert!(a.recv_buffer_size().unwrap() >= 16 << 10);
        assert!(a.take_error().unwrap().is_none());
        assert!(a.join_multicast_v4(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST).is_err());
    });
}

#[test]
fn v6_sockets_take_v4() {
    on_each(|| async {
        let Ok(six) = UdpSocket::bind("[::]:0").await else {
            println!("no IPv6 here");
            return;
        };
        let port = six.local_addr().unwrap().port();
        let four = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        four.send_to(b"x", ("127.0.0.1", port)).await.unwrap();
        let (_, from) = six.recv_from(&mut [0; 8]).await.unwrap();
        assert_eq!(from.ip().to_canonical(), Ipv4Addr::LOCALHOST);
        six.send_to(b"y", from).await.unwrap();
        assert_eq!(four.recv(&mut [0; 8]).await.unwrap(), 1);
    });
}
