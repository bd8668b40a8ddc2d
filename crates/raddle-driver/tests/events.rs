//! Events that cannot be masked, shared sources, nudges, and queues that are too small.

mod common;

use common::*;
use raddle_base::clock::Instant;
use raddle_base::random::Rng;
use raddle_driver::{Config, Source, SourceKind, op};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// More turns than a wait with nothing to do makes, whatever is late on a busy machine, and far
/// fewer than a loop that spins makes in the same time.
const MANY: usize = 100;

/// Turns within `time`, with nothing to do.
fn turns_in(world: &World, time: Duration) -> usize {
    let before = world.turns.get();
    world.run_for(time, || false);
    world.turns.get() - before
}

#[test]
fn a_hang_up_nobody_waits_for_does_not_spin() {
    on_each(|world| {
        let (tcp, tcp_peer) = tcp_pair();
        let (unix, unix_peer) = UnixStream::pair().unwrap();
        let unix = stream(unix);
        let (reader, reader_peer) = pipe();
        let reader = Source::from_fd(reader, SourceKind::Pipe).unwrap();
        let (writer_peer, writer) = pipe();
        let writer = Source::from_fd(writer, SourceKind::Pipe).unwrap();
        let sources = Rc::new([tcp, unix, reader, writer]);
        // Each has waited once, so that it is registered or a request is on its way.
        world.block_on({
            let sources = Rc::clone(&sources);
            async move {
                for source in &sources[..3] {
                    assert!(once(source.read(&mut [0; 1])).await.is_none());
                }
                while once(sources[3].write(&[0; 4096])).await.is_some() {}
                yield_now().await;
            }
        });
        drop((tcp_peer, unix_peer, reader_peer, writer_peer));
        turns_in(world, Duration::from_millis(20));
        let turns = turns_in(world, Duration::from_millis(500));
        assert!(turns < MANY, "{turns} turns in half a second with nothing to do");
        world.block_on(async move {
            for source in &sources[..3] {
                assert_eq!(source.read(&mut [0; 1]).await.unwrap(), 0);
            }
            let error = sources[3].write(&[0; 1]).await.unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
        });
        let turns = turns_in(world, Duration::from_millis(200));
        assert!(turns < MANY, "{turns} turns after the sources were dropped");
    });
}

#[test]
fn all_that_wait_for_an_event_are_woken() {
    on_each(|world| {
        let (source, mut peer) = tcp_pair();
        let source = Rc::new(source);
        let reached = Rc::new(std::cell::Cell::new(0));
        let waits: Vec<_> = (0..5)
            .map(|_| {
                let (source, reached) = (Rc::clone(&source), Rc::clone(&reached));
                world.spawn(async move {
                    source.readable().await.unwrap();
                    reached.set(reached.get() + 1);
                })
            })
            .collect();
        let polled = world.spawn({
            let source = Rc::clone(&source);
            async move { std::future::poll_fn(|cx| source.poll_readable(cx)).await.unwrap() }
        });
        world.block_on(async {
            for _ in 0..5 {
                yield_now().await;
            }
        });
        assert_eq!(reached.get(), 0);
        peer.write_all(b"x").unwrap();
        for wait in waits {
            world.block_on(wait);
        }
        world.block_on(polled);
    });
}

#[test]
fn many_receivers_of_one_socket_get_every_datagram_once() {
    on_each(|world| {
        let ((receiver, addr), (sender, _)) = (udp(), udp());
        let receiver = Rc::new(receiver);
        let got = Rc::new(std::cell::RefCell::new(Vec::new()));
        let receivers: Vec<_> = (0..4)
            .map(|_| {
                let (receiver, got) = (Rc::clone(&receiver), Rc::clone(&got));
                world.spawn(async move {
                    for _ in 0..25 {
                        let mut buf = [0; 1];
                        let (count, _) = receiver.recv_from(&mut buf).await.unwrap();
                        assert_eq!(count, 1);
                        got.borrow_mut().push(buf[0]);
                    }
                })
            })
            .collect();
        world.spawn(async move {
            for n in 0..100u8 {
                sender.send_to(&[n], &raw(addr)).await.unwrap();
                yield_now().await;
            }
        });
        for receiver in receivers {
            world.block_on(receiver);
        }
        let mut got = got.take();
        got.sort_unstable();
        assert_eq!(got, (0..100).collect::<Vec<u8>>());
    });
}

#[test]
fn reader_and_writer_of_one_stream_do_not_hold_each_other_up() {
    on_each(|world| {
        let (a, mut b) = UnixStream::pair().unwrap();
        let source = Rc::new(stream(a));
        let reading = world.spawn({
            let source = Rc::clone(&source);
            async move { read_exact(&source, 3).await }
        });
        let writing = world.spawn({
            let source = Rc::clone(&source);
            async move { write_all(&source, &vec![b'w'; 1_000_000]).await }
        });
        let peer = std::thread::spawn(move || {
            b.write_all(b"abc").unwrap();
            let mut all = vec![0; 1_000_000];
            b.read_exact(&mut all).unwrap();
            b
        });
        assert_eq!(world.block_on(reading), b"abc");
        world.block_on(writing);
        peer.join().unwrap();
    });
}

#[test]
fn no_nudge_of_another_thread_is_lost() {
    const NUDGES: usize = if cfg!(debug_assertions) { 20_000 } else { 100_000 };
    on_each(|world| {
        let (posted, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let remote = world.driver.remote();
        let poster = std::thread::spawn({
            let (posted, seen) = (Arc::clone(&posted), Arc::clone(&seen));
            move || {
                let mut rng = Rng::new(5);
                for n in 1..=NUDGES {
                    // Relaxed: the nudge publishes it.
                    posted.store(n, Ordering::Relaxed);
                    remote.unpark();
                    for _ in 0..rng.below(2000) {
                        std::hint::spin_loop();
                    }
                    // Mostly one at a time, so that each has to be seen by a park of its own.
                    while n % 8 != 0 && seen.load(Ordering::Acquire) < n {
                        std::thread::yield_now();
                    }
                }
            }
        });
        while seen.load(Ordering::Relaxed) < NUDGES {
            // No deadline: a lost nudge hangs here, and the watchdog ends it.
            world.driver.park(None);
            seen.store(posted.load(Ordering::Relaxed), Ordering::Release);
        }
        poster.join().unwrap();
    });
}

#[test]
fn a_look_does_not_take_the_token_of_a_park() {
    on_each(|world| {
        world.driver.remote().unpark();
        for _ in 0..5 {
            world.driver.look(64);
        }
        // Returns: the token is still there.
        world.driver.park(None);
    });
}

#[test]
fn small_queues_carry_any_number_of_operations() {
    const SENDS: usize = 5_000;
    for backend in backends() {
        watched(move || {
            let mut config = Config::new(backend, Arc::new(Threads));
            (config.entries, config.completions) = (64, 128);
            let world = World::new(&config);
            let (source, mut b) = full_pair();
            let source = Rc::new(source);
            let ended = Rc::new(std::cell::Cell::new(0));
            let stop = Rc::new(std::cell::Cell::new(false));
            for n in 0..SENDS {
                let (source, ended) = (Rc::clone(&source), Rc::clone(&ended));
                let stop = Rc::clone(&stop);
                world.spawn(async move {
                    // Each is a request of its own: the kernel holds thousands of them.
                    let sending = op::send_msg(&source, vec![vec![n as u8; 16]], None);
                    let mut sending = Box::pin(sending);
                    loop {
                        if let Some((result, bufs)) = once(sending.as_mut()).await {
                            assert_eq!((result.unwrap(), bufs[0].len()), (16, 16));
                            break;
                        }
                        if stop.get() {
                            break;
                        }
                        pause().await;
                    }
                    ended.set(ended.get() + 1);
                });
            }
            world.run_for(Duration::from_millis(300), || false);
            assert_eq!(ended.get(), 0, "the peer has not read yet");
            b.set_nonblocking(true).unwrap();
            let mut sink = [0; 65_536];
            let mut read = 0;
            while read < 100_000 {
                match b.read(&mut sink) {
                    Ok(count) => read += count,
                    Err(_) => break,
                }
            }
            world.run_for(Duration::from_millis(200), || false);
            stop.set(true);
            // Until every operation has ended; the watchdog bounds it.
            while ended.get() < SENDS {
                world.turn(Some(Instant::now() + Duration::from_millis(100)));
            }
            drop(source);
            assert_eq!(world.driver.close(Instant::now() + Duration::from_secs(40)).requests, 0);
        });
    }
}

/// Gives way many times, so that thousands of tasks do not poll all the time.
async fn pause() {
    for _ in 0..4 {
        yield_now().await;
    }
}

#[test]
fn many_sources_on_a_small_ring() {
    for backend in backends() {
        watched(move || {
            let mut config = Config::new(backend, Arc::new(Threads));
            (config.entries, config.completions, config.buffers) = (8, 16, 16);
            let world = World::new(&config);
            let mut peers = Vec::new();
            let mut reads = Vec::new();
            for _ in 0..400 {
                let (a, b) = UnixStream::pair().unwrap();
                peers.push(b);
                let source = stream(a);
                reads.push(world.spawn(async move { read_exact(&source, 5).await }));
            }
            world.block_on(yield_now());
            world.run_for(Duration::from_millis(20), || false);
            for peer in &mut peers {
                peer.write_all(b"hello").unwrap();
            }
            for read in reads {
                assert_eq!(world.block_on(read), b"hello");
            }
        });
    }
}

#[test]
fn waits_end_at_their_deadline_without_a_nanosecond_call() {
    watched(|| {
        let mut config = Config::new(raddle_driver::Backend::Epoll, Arc::new(Threads));
        config.nanosecond_waits = false;
        let world = World::new(&config);
        for micros in [0, 1, 150, 2500] {
            let deadline = Instant::now() + Duration::from_micros(micros);
            while Instant::now() < deadline {
                world.driver.park(Some(deadline));
            }
        }
        // A timer that has fired must not make later waits return at once.
        let turns = turns_in(&world, Duration::from_millis(100));
        assert!(turns < MANY, "{turns} turns");
    });
}
