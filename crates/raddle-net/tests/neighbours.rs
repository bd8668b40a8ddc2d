//! What one socket does to others: nothing. Unread streams, closed peers, tasks that are always
//! ready, drops with operations under way.

mod support;

use raddle::Handle;
use raddle_net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use std::io::ErrorKind;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::{on_each, pattern, polled, tcp_pair};

/// Streams that are never read, though waited for once, while one is written and read for long.
#[test]
fn an_unread_stream_slows_nobody() {
    on_each(|| async {
        let mut unread = Vec::new();
        for _ in 0..8 {
            let (a, b) = tcp_pair().await;
            // Waited for, so that whatever receives in advance does so.
            assert!(polled(b.readable(), 2).await.is_none());
            let flood = raddle::spawn(async move {
                let bytes = pattern(100_000);
                while a.write_all(&bytes).await.is_ok() {}
            });
            b.readable().await.unwrap();
            unread.push((b, flood));
        }
        let (a, b) = tcp_pair().await;
        let sent = pattern(4_000_000);
        let bytes = sent.clone();
        let writer = raddle::spawn(async move { a.write_all(&bytes).await.unwrap() });
        let mut got = Vec::new();
        b.read_to_end(&mut got).await.unwrap();
        assert!(got == sent);
        writer.await.unwrap();
        // What came to the others is theirs still, in order.
        for (stream, flood) in unread {
            let mut got = vec![0; 300_000];
            stream.read_exact(&mut got).await.unwrap();
            let expected = pattern(100_000);
            assert!(got.chunks(100_000).all(|chunk| chunk == expected));
            drop(stream);
            flood.await.unwrap();
        }
    });
}

fn activity() -> u64 {
    let metrics = Handle::current().metrics();
    metrics.workers.iter().map(|worker| worker.parks + worker.dispatches).sum()
}

/// Waits for 50 ms in which next to nothing happens, where nothing has to. What was under way may
/// take its time to settle; what spins never does.
async fn comes_to_rest() {
    let mut happened = 0;
    for _ in 0..100 {
        let before = activity();
        raddle::time::sleep(Duration::from_millis(50)).await;
        happened = activity() - before;
        if happened < 50 {
            return;
        }
    }
    panic!("{happened} parks and dispatches in 50 ms, after 5 s");
}

/// A closed peer makes no event again and again, whether somebody waits, waited, or never did.
#[test]
fn closed_peers_do_not_spin() {
    on_each(|| async {
        let mut ours = Vec::new();
        for kind in 0..3 {
            let (tcp, tcp_peer) = tcp_pair().await;
            let (unix, unix_peer) = UnixStream::pair().unwrap();
            if kind > 0 {
                assert!(polled(tcp.read(&mut [0; 1]), 2).await.is_none());
                assert!(polled(unix.read(&mut [0; 1]), 2).await.is_none());
            }
            if kind > 1 {
                assert!(polled(tcp.ready(raddle_net::Interest::BOTH), 2).await.is_some());
                tcp_peer.set_linger(Some(Duration::ZERO)).unwrap();
            }
            drop((tcp_peer, unix_peer));
            ours.push((tcp, unix));
        }
        comes_to_rest().await;
        for (tcp, unix) in ours {
            assert_eq!(unix.read(&mut [0; 1]).await.unwrap(), 0);
            assert!(unix.write(b"x").await.is_err());
            assert!(matches!(tcp.read(&mut [0; 1]).await, Ok(0) | Err(_)));
        }
    });
}

/// The other side has ended its writing and reads slowly: a writer that waits for room waits.
#[test]
fn half_closed_peers_do_not_spin() {
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        let (c, d) = UnixStream::pair().unwrap();
        b.shutdown(Shutdown::Write).unwrap();
        d.shutdown(Shutdown::Write).unwrap();
        assert_eq!(a.read(&mut [0; 1]).await.unwrap(), 0);
        let sent = 16 << 20;
        let tcp = raddle::spawn(async move { a.write_all(&vec![1; sent]).await.unwrap() });
        let unix = raddle::spawn(async move { c.write_all(&vec![2; sent]).await.unwrap() });
        comes_to_rest().await;
        let mut got = Vec::new();
        assert_eq!(b.read_to_end(&mut got).await.unwrap(), sent);
        assert_eq!(d.read_to_end(&mut got).await.unwrap(), sent);
        tcp.await.unwrap();
        unix.await.unwrap();
    });
}

/// Whoever sent bytes that were never read learns so, wherever they lay when the stream was
/// dropped: with the kernel, received in advance, or on their way between the two.
#[test]
fn unread_bytes_at_a_drop_reset_the_connection() {
    on_each(|| async {
        for read_before in [0, 50] {
            let (a, b) = tcp_pair().await;
            if read_before == 0 {
                // Waited for, so that whatever receives in advance does so.
                assert!(polled(b.readable(), 2).await.is_none());
            }
            a.write_all(&[1; 100]).await.unwrap();
            b.readable().await.unwrap();
            b.read_exact(&mut vec![0; read_before]).await.unwrap();
            drop(b);
            let error = a.read(&mut [0; 1]).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{read_before}");
        }
        // A writer that waits for room does not go on waiting.
        let (a, b) = tcp_pair().await;
        let writer = raddle::spawn(async move { while a.write(&[1; 9_999]).await.is_ok() {} });
        for _ in 0..100 {
            b.read_exact(&mut [0; 10]).await.unwrap();
            raddle::task::yield_now().await;
        }
        drop(b);
        writer.await.unwrap();
    });
}

/// On one worker these loops would keep everybody else out for good without a budget.
#[test]
fn tasks_that_are_always_ready_give_way() {
    on_each(|| async {
        let stop = Arc::new(AtomicBool::new(false));
        // Relaxed: a flag, and nothing with it.
        let running = |stop: &AtomicBool| !stop.load(Ordering::Relaxed);
        let sender = raddle::spawn({
            let stop = Arc::clone(&stop);
            async move {
                let a = UdpSocket::bind("127.0.0.1:0").await.unwrap();
                let there = a.local_addr().unwrap();
                while running(&stop) {
                    a.send_to(b"to myself", there).await.unwrap();
                }
            }
        });
        let reader = raddle::spawn({
            let stop = Arc::clone(&stop);
            async move {
                let mut file = raddle_net::fs::File::open("/proc/self/exe").await.unwrap();
                let mut buf = [0; 16];
                while running(&stop) {
                    if file.read(&mut buf).await.unwrap() == 0 {
                        file.rewind().await.unwrap();
                    }
                }
            }
        });
        let (a, b) = tcp_pair().await;
        let pusher = raddle::spawn({
            let stop = Arc::clone(&stop);
            async move {
                while running(&stop) {
                    a.write_all(&[1; 16]).await.unwrap();
                    b.read_exact(&mut [0; 16]).await.unwrap();
                }
            }
        });
        for _ in 0..200 {
            raddle::task::yield_now().await;
        }
        raddle::time::sleep(Duration::from_millis(1)).await;
        // Relaxed: as above.
        stop.store(true, Ordering::Relaxed);
        for task in [sender, reader, pusher] {
            task.await.unwrap();
        }
    });
}

#[test]
fn a_drop_ends_the_connection_at_once() {
    on_each(|| async {
        // With a read under way in a task that is aborted.
        let (a, b) = tcp_pair().await;
        let reader = raddle::spawn(async move { a.read(&mut [0; 8]).await });
        while !reader.is_finished() {
            raddle::task::yield_now().await;
            reader.abort();
        }
        assert_eq!(b.read(&mut [0; 8]).await.unwrap(), 0);
        // With a write that does not fit.
        let (a, b) = tcp_pair().await;
        let writing = async {
            loop {
                let (result, _) = a.write_owned(pattern(1 << 20)).await;
                result.unwrap();
            }
        };
        assert!(polled(writing, 20).await.is_none());
        drop(a);
        let mut rest = Vec::new();
        b.read_to_end(&mut rest).await.unwrap();
        // A descriptor that is known elsewhere keeps the connection.
        let (a, b) = tcp_pair().await;
        assert!(polled(a.read(&mut [0; 8]), 2).await.is_none());
        let duplicate = a.as_fd().try_clone_to_owned().unwrap();
        drop(a);
        let a = TcpStream::from_std(duplicate.into()).unwrap();
        a.write_all(b"still here").await.unwrap();
        assert_eq!(b.read(&mut [0; 16]).await.unwrap(), 10);
    });
}

fn shared<T: Send + Sync + Unpin + 'static>(_: &T) {}
fn sent<T: Send>(value: T) -> T {
    value
}

#[test]
fn types_and_futures_go_to_any_thread() {
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        shared(&a);
        let (mut read, write) = b.into_split();
        shared(&read);
        shared(&write);
        shared(&UdpSocket::bind("127.0.0.1:0").await.unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        shared(&listener);
        let mut file = raddle_net::fs::File::open("/proc/self/exe").await.unwrap();
        shared(&file);
        shared(&raddle_net::signal::signal(raddle_net::signal::SignalKind::alarm()).unwrap());
        sent(a.write_all(b"x")).await.unwrap();
        sent(read.read(&mut [0; 8])).await.unwrap();
        sent(file.read(&mut [0; 8])).await.unwrap();
        drop(sent(file.metadata()));
        drop(sent(listener.accept()));
        drop(sent(TcpStream::connect("localhost:1")));
        drop(sent(raddle_net::signal::ctrl_c()));
        drop(sent(futures_read(&mut read)));
    });
}

async fn futures_read(reader: &mut (impl raddle_net::io::AsyncRead + Unpin)) -> usize {
    let mut buf = [0; 8];
    std::future::poll_fn(|cx| std::pin::Pin::new(&mut *reader).poll_read(cx, &mut buf))
        .await
        .unwrap()
}

/// Futures of one direction wait beside each other, whichever face they belong to.
#[test]
fn readers_of_one_stream_are_all_served() {
    on_each(|| async {
        let (a, b) = tcp_pair().await;
        let b = Arc::new(b);
        let mut readers = Vec::new();
        for n in 0..6 {
            let b = Arc::clone(&b);
            readers.push(raddle::spawn(async move {
                let (result, buf) = match n % 3 {
                    0 => b.read_owned(Vec::with_capacity(1)).await,
                    1 => {
                        let mut buf = vec![0; 1];
                        (b.read(&mut buf).await, buf)
                    }
                    _ => {
                        let mut buf = vec![0; 1];
                        let mut slices = [std::io::IoSliceMut::new(&mut buf)];
                        (b.read_vectored(&mut slices).await, buf)
                    }
                };
                assert_eq!(result.unwrap(), 1);
                buf[0]
            }));
        }
        for _ in 0..10 {
            raddle::task::yield_now().await;
        }
        a.write_all(&[0, 1, 2, 3, 4, 5]).await.unwrap();
        let mut got = Vec::new();
        for reader in readers {
            got.push(reader.await.unwrap());
        }
        got.sort_unstable();
        assert_eq!(got, [0, 1, 2, 3, 4, 5]);
    });
}
