//! Listeners: closing under pending accepts, the stream of connections, sharing, adoption.

mod support;

use raddle_net::{TcpListener, TcpSocket, TcpStream, UnixListener};
use std::future::poll_fn;
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::Arc;
use support::{on_each, polled};

#[test]
fn a_close_ends_pending_accepts() {
    on_each(|| async {
        for round in 0..50 {
            // Two sockets at one address, of which one listens: the other keeps the address when
            // the listener is closed, so that nobody else comes to be there.
            let (socket, keeper) = (TcpSocket::new_v4().unwrap(), TcpSocket::new_v4().unwrap());
            socket.set_reuseport(true).unwrap();
            keeper.set_reuseport(true).unwrap();
            socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
            let addr = socket.local_addr().unwrap();
            keeper.bind(addr).unwrap();
            let listener = Arc::new(socket.listen(128).unwrap());
            let accepts: Vec<_> = (0..4)
                .map(|_| {
                    let listener = Arc::clone(&listener);
                    raddle::spawn(async move {
                        let mut count = 0;
                        loop {
                            match listener.accept().await {
                                Ok(_) => count += 1,
                                Err(error) if error.kind() == ErrorKind::NotConnected => {
                                    return count;
                                }
                                Err(error) => panic!("{error}"),
                            }
                        }
                    })
                })
                .collect();
            // With some connections, and at some point of the loops.
            let connected = round % 3;
            let mut streams = Vec::new();
            for _ in 0..connected {
                streams.push(TcpStream::connect(addr).await.unwrap());
            }
            for _ in 0..round % 5 {
                raddle::task::yield_now().await;
            }
            listener.close();
            let mut accepted = 0;
            for accept in accepts {
                accepted += accept.await.unwrap();
            }
            assert!(accepted <= connected);
            let error = listener.accept().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotConnected);
            let error = TcpStream::connect(addr).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
            drop(keeper);
        }
    });
}

#[test]
fn incoming_goes_on_until_the_close() {
    on_each(|| async {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let addr = listener.local_addr().unwrap();
        let server = raddle::spawn({
            let listener = Arc::clone(&listener);
            async move {
                let mut count = 0;
                let mut incoming = listener.incoming();
                while let Some(stream) = incoming.next().await {
                    stream.unwrap().write_all(b"hello").await.unwrap();
                    count += 1;
                }
                assert!(incoming.next().await.is_none());
                count
            }
        });
        for _ in 0..10 {
            let mut got = Vec::new();
            let stream = TcpStream::connect(addr).await.unwrap();
            stream.read_to_end(&mut got).await.unwrap();
            assert_eq!(got, b"hello");
        }
        listener.close();
        assert_eq!(server.await.unwrap(), 10);
        // The same as a stream, and by polling.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        assert!(polled(poll_fn(|cx| listener.poll_accept(cx)), 2).await.is_none());
        let client = raddle::spawn(async move { TcpStream::connect(addr).await.unwrap() });
        let mut incoming = listener.incoming();
        let next = poll_fn(|cx| futures_core::Stream::poll_next(Pin::new(&mut incoming), cx));
        next.await.unwrap().unwrap();
        client.await.unwrap();
        listener.close();
        let next = poll_fn(|cx| futures_core::Stream::poll_next(Pin::new(&mut incoming), cx));
        assert!(next.await.is_none());
    });
}

#[test]
fn a_socket_with_options_listens_and_connects() {
    on_each(|| async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.set_reuseport(true).unwrap();
        socket.set_nodelay(false).unwrap();
        socket.set_recv_buffer_size(32 << 10).unwrap();
        assert!(socket.recv_buffer_size().unwrap() >= 32 << 10);
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let addr = socket.local_addr().unwrap();
        let listener = socket.listen(1).unwrap();
        assert_eq!(listener.local_addr().unwrap(), addr);
        let second = TcpSocket::new_v4().unwrap();
        second.set_reuseport(true).unwrap();
        second.set_reuseaddr(true).unwrap();
        second.bind(addr).unwrap();
        drop(second);
        let client = TcpSocket::new_v4().unwrap();
        client.set_keepalive(true).unwrap();
        let connecting = raddle::spawn(client.connect(addr));
        let (accepted, peer) = listener.accept().await.unwrap();
        let connected = connecting.await.unwrap().unwrap();
        assert_eq!(peer, connected.local_addr().unwrap());
        assert!(connected.keepalive().unwrap() && !accepted.nodelay().unwrap());
    });
}

#[test]
fn listeners_of_std() {
    on_each(|| async {
        let std = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = std.local_addr().unwrap();
        let listener = TcpListener::from_std(std).unwrap();
        let client = raddle::spawn(TcpStream::connect(addr));
        listener.accept().await.unwrap();
        client.await.unwrap().unwrap();
        // Known elsewhere: the duplicate goes on when ours is dropped.
        // An accept is under way in the kernel: the drop cancels it, and hangs up only what is
        // ours alone.
        let duplicate = listener.as_fd().try_clone_to_owned().unwrap();
        assert!(polled(listener.accept(), 2).await.is_none());
        drop(listener);
        let listener = TcpListener::from_std(duplicate.into()).unwrap();
        // The accept may still take one connection, until it is cancelled.
        let client = raddle::spawn(async move {
            loop {
                let stream = TcpStream::connect(addr).await.unwrap();
                let mut got = Vec::new();
                if stream.read_to_end(&mut got).await.is_ok() && got == b"hello" {
                    return;
                }
            }
        });
        let (stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"hello").await.unwrap();
        drop(stream);
        client.await.unwrap();
        let std = listener.into_std().await.unwrap();
        assert_eq!(std.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "still non-blocking");
        let pair = UnixListener::bind(format!("\0raddle-listener-{}", std::process::id()));
        drop(pair.unwrap().into_std().await.unwrap());
    });
}
