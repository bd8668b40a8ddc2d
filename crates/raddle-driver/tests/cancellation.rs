//! Futures that are dropped half way: nothing is lost, nothing leaks, nothing is written to.

mod common;

use common::*;
use raddle_base::clock::Instant;
use raddle_base::random::Rng;
use raddle_driver::{Backend, Config, Source, SourceKind, op};
use std::ffi::CString;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

const RACES: usize = if cfg!(debug_assertions) { 5_000 } else { 20_000 };

fn unix_listener(name: &str) -> (Source, SocketAddr) {
    let name = format!("raddle-driver-{name}-{}", std::process::id());
    let addr = SocketAddr::from_abstract_name(name).unwrap();
    let listener = UnixListener::bind_addr(&addr).unwrap();
    (Source::from_fd(listener.into(), SourceKind::Listener).unwrap(), addr)
}

/// Gives the kernel a chance to complete something, or not.
async fn maybe_wait(rng: &mut Rng) {
    for _ in 0..rng.below(3) {
        yield_now().await;
    }
}

#[test]
fn dropped_accepts_lose_no_connection() {
    on_each(|world| {
        let (listener, addr) = unix_listener(&format!("{}", world.driver.backend()));
        world.block_on(async move {
            let mut rng = Rng::new(1);
            let mut accepted = 0;
            for n in 0..RACES {
                if let Some(connection) = once(listener.accept()).await {
                    connection.unwrap();
                    accepted += 1;
                }
                let mut client = UnixStream::connect_addr(&addr).unwrap();
                client.write_all(&(n as u32).to_ne_bytes()).unwrap();
                maybe_wait(&mut rng).await;
                while accepted <= n {
                    let (fd, _) = listener.accept().await.unwrap();
                    let mut server = UnixStream::from(fd);
                    server.set_nonblocking(false).unwrap();
                    let mut got = [0; 4];
                    server.read_exact(&mut got).unwrap();
                    assert_eq!(u32::from_ne_bytes(got), accepted as u32);
                    accepted += 1;
                }
            }
            assert_eq!(accepted, RACES);
        });
    });
}

#[test]
fn dropped_opens_close_what_they_opened() {
    on_each(|world| {
        let name = format!("raddle-open-{}-{:?}", std::process::id(), world.driver.backend());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, b"x").unwrap();
        let c_path = CString::new(path.to_str().unwrap()).unwrap();
        world.block_on(async move {
            let mut rng = Rng::new(2);
            for _ in 0..RACES / 10 {
                let opening = op::open(c_path.clone(), libc::O_RDONLY, 0);
                if let Some(file) = once(opening).await {
                    file.unwrap();
                }
                maybe_wait(&mut rng).await;
            }
        });
        // Until the last cancelled one has ended; the watchdog bounds it.
        while descriptors_of(&path) > 0 {
            world.turn(Some(Instant::now() + Duration::from_millis(5)));
        }
        std::fs::remove_file(&path).unwrap();
    });
}

/// Descriptors of this process that lead to `path`.
fn descriptors_of(path: &std::path::Path) -> usize {
    let links = std::fs::read_dir("/proc/self/fd").unwrap();
    links
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter(|to| to == path)
        .count()
}

#[test]
fn dropped_receives_lose_no_byte() {
    on_each(|world| {
        let (a, b) = UnixStream::pair().unwrap();
        let (source, writer) = (stream(a), stream(b));
        let total = RACES * 7;
        let sender = world.spawn(async move {
            let mut rng = Rng::new(3);
            let mut sent = 0;
            while sent < total {
                let len = (1 + rng.below(20) as usize).min(total - sent);
                let bytes: Vec<u8> = (sent..sent + len).map(|n| (n % 251) as u8).collect();
                write_all(&writer, &bytes).await;
                sent += len;
                maybe_wait(&mut rng).await;
            }
        });
        world.block_on(async move {
            let mut rng = Rng::new(4);
            let mut got = 0;
            while got < total {
                let mut buf = [0; 32];
                let count = if rng.below(2) == 0 {
                    once(source.read(&mut buf)).await.map(Result::unwrap)
                } else {
                    let (result, owned) = match once(op::recv(&source, vec![0; 8])).await {
                        Some(done) => done,
                        None => {
                            yield_now().await;
                            continue;
                        }
                    };
                    buf[..owned.len()].copy_from_slice(&owned);
                    Some(result.unwrap())
                };
                for byte in &buf[..count.unwrap_or(0)] {
                    assert_eq!(*byte, (got % 251) as u8, "at byte {got}");
                    got += 1;
                }
                if count.is_none() {
                    yield_now().await;
                }
            }
            sender.await;
            assert_eq!(source.read(&mut [0; 1]).await.unwrap(), 0);
        });
    });
}

fn drain(peer: &mut UnixStream) -> Vec<u8> {
    let mut got = Vec::new();
    peer.read_to_end(&mut got).unwrap();
    got
}

#[test]
fn a_dropped_send_keeps_buffer_and_descriptor_until_the_kernel_is_done() {
    on_each(|world| {
        let (source, mut peer) = full_pair();
        let number = source.as_raw_fd();
        world.block_on(async move {
            let mut sending = Box::pin(op::send(&source, vec![b's'; 200_000]));
            assert!(once(sending.as_mut()).await.is_none(), "there is no room");
            yield_now().await;
            drop(sending);
            // The allocation is likely to be handed out again, and the number too.
            let reused = vec![b'r'; 200_000];
            drop(source);
            let file = std::fs::File::open("/dev/null").unwrap();
            for _ in 0..20 {
                yield_now().await;
            }
            let got = drain(&mut peer);
            assert!(
                got.iter().all(|byte| b"fs".contains(byte)),
                "bytes of another owner were sent"
            );
            assert!(reused.iter().all(|&byte| byte == b'r'));
            drop(file);
        });
        let _ = number;
    });
}

#[test]
fn a_dropped_socket_hangs_up_at_once() {
    on_each(|world| {
        let (source, mut peer) = tcp_pair();
        let source = world.block_on(async move {
            let mut buf = [0; 8];
            assert!(once(source.read(&mut buf)).await.is_none());
            yield_now().await;
            source
        });
        // Dropped with its receive on the way; nobody looks at the driver from here on.
        drop(source);
        peer.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        assert_eq!(peer.read(&mut [0; 8]).unwrap(), 0, "the peer sees the end at once");
    });
}

#[test]
fn a_shared_socket_is_not_hung_up() {
    on_each(|world| {
        let (source, mut peer) = tcp_pair();
        let twin = {
            use std::os::fd::AsFd;
            std::net::TcpStream::from(source.as_fd().try_clone_to_owned().unwrap())
        };
        source.set_shared();
        world.block_on(async move {
            assert!(once(source.read(&mut [0; 8])).await.is_none());
            yield_now().await;
            drop(source);
            for _ in 0..10 {
                yield_now().await;
            }
        });
        twin.set_nonblocking(false).unwrap();
        (&twin).write_all(b"still here").unwrap();
        let mut got = [0; 10];
        peer.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"still here");
    });
}

#[test]
fn closing_a_driver_ends_a_pending_receive_and_frees_the_descriptor() {
    on_each(|world| {
        let (source, mut peer) = tcp_pair();
        let source = Rc::new(source);
        let reading = world.spawn({
            let source = Rc::clone(&source);
            async move { source.read(&mut [0; 8]).await }
        });
        world.block_on(async {
            for _ in 0..5 {
                yield_now().await;
            }
        });
        assert!(!reading.is_done(), "the receive is pending");
        // A receive that is not cancelled would be there still at any deadline.
        let left = world.driver.close(Instant::now() + Duration::from_secs(20));
        assert_eq!(left.requests, 0);
        world.run_ready();
        let result = reading.take().expect("the waiter was woken");
        assert!(result.is_err(), "nothing can be received any more: {result:?}");
        drop(source);
        peer.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        assert_eq!(peer.read(&mut [0; 8]).unwrap(), 0, "the descriptor is closed");
    });
}

#[test]
fn operations_of_a_closed_driver_fail_and_give_the_buffer_back() {
    on_each(|world| {
        let (source, _peer) = full_pair();
        let sending = world.spawn(async move { op::send(&source, vec![1; 100_000]).await });
        world.block_on(async {
            for _ in 0..5 {
                yield_now().await;
            }
        });
        assert!(!sending.is_done());
        assert_eq!(world.driver.close(Instant::now() + Duration::from_secs(20)).requests, 0);
        world.run_ready();
        let (result, buf) = sending.take().expect("the waiter was woken");
        assert!(result.is_err());
        assert_eq!(buf.len(), 100_000);
    });
}

#[test]
fn one_unread_stream_slows_nobody() {
    for backend in backends() {
        watched(move || {
            let mut config = Config::new(backend, Arc::new(Threads));
            config.buffers = 8;
            let world = World::new(&config);
            let (unread, flooding) = UnixStream::pair().unwrap();
            let (unread, flooding) = (Rc::new(stream(unread)), stream(flooding));
            world.spawn({
                let unread = Rc::clone(&unread);
                async move {
                    // Waits once, so that a receive is on its way, and reads nothing after.
                    assert!(once(unread.read(&mut [0; 1])).await.is_none());
                }
            });
            let flood = world.spawn(async move {
                let mut sent = 0;
                while sent < 1_000_000 {
                    match once(flooding.write(&[7; 8192])).await {
                        Some(count) => sent += count.unwrap(),
                        None => break,
                    }
                    yield_now().await;
                }
                (flooding, sent)
            });
            let echoes: Vec<_> = (0..32).map(|_| world.spawn(echo_pair(200))).collect();
            for echo in echoes {
                world.block_on(echo);
            }
            let (_flooding, sent) = world.block_on(flood);
            world.block_on(async move {
                let got = read_exact(&unread, sent).await;
                assert!(got.iter().all(|&byte| byte == 7));
            });
        });
    }
}

/// Two streams that send each other a message so many times.
async fn echo_pair(rounds: u32) {
    let (a, b) = std_pair();
    let (a, b) = (stream(a), stream(b));
    for round in 0..rounds {
        let message = round.to_ne_bytes();
        write_all(&a, &message).await;
        assert_eq!(read_exact(&b, 4).await, message);
        write_all(&b, &message).await;
        assert_eq!(read_exact(&a, 4).await, message);
    }
}

#[test]
fn closing_a_listener_ends_its_accepts() {
    on_each(|world| {
        let (listener, _) = listener();
        let listener = Rc::new(listener);
        let accepting: Vec<_> = (0..3)
            .map(|_| {
                let listener = Rc::clone(&listener);
                world.spawn(async move { listener.accept().await.map(drop) })
            })
            .collect();
        world.block_on(async {
            for _ in 0..5 {
                yield_now().await;
            }
        });
        assert!(accepting.iter().all(|accept| !accept.is_done()));
        listener.close();
        for accept in accepting {
            assert!(world.block_on(accept).is_err());
        }
    });
}

#[test]
fn a_source_taken_apart_leaves_a_working_descriptor() {
    on_each(|world| {
        let (source, mut peer) = tcp_pair();
        peer.write_all(b"bytes").unwrap();
        let fd: OwnedFd = world.block_on(async move {
            let got = read_exact(&source, 2).await;
            assert_eq!(got, b"by");
            source.into_fd().expect("nothing is on its way")
        });
        let mut std = std::net::TcpStream::from(fd);
        std.set_nonblocking(false).unwrap();
        let mut got = [0; 3];
        std.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"tes");
    });
}

#[test]
fn both_backends_were_tested_or_one_was_named() {
    assert!(backends().contains(&Backend::Epoll));
}
