//! Written means handed over: in order, before the end, also if the source is dropped at once.

mod common;

use common::*;
use raddle_base::clock::Instant;
use raddle_driver::Config;
use std::io::{ErrorKind, IoSlice, Read};
use std::net::Shutdown;
use std::sync::Arc;
use std::time::Duration;

/// Runs `test` on each backend: as it comes, and with all small writes grouped.
fn both_ways(test: fn(&World)) {
    for backend in backends() {
        for group_writes_from in [0, u32::MAX] {
            watched(move || {
                let mut config = Config::new(backend, Arc::new(Threads));
                config.group_writes_from = group_writes_from;
                test(&World::new(&config));
            });
        }
    }
}

/// Turns until something has happened that no event tells; the watchdog bounds it.
fn run_until(world: &World, done: impl Fn() -> bool) {
    while !done() {
        world.turn(Some(Instant::now() + Duration::from_millis(2)));
    }
}

#[test]
fn a_source_dropped_right_after_a_write_delivers_it() {
    both_ways(|world| {
        for size in [1, 64, 5_000, 60_000] {
            let (source, mut peer) = tcp_pair();
            let reader = std::thread::spawn(move || {
                let mut got = Vec::new();
                peer.read_to_end(&mut got).unwrap();
                got
            });
            world.block_on(async move {
                // A receive is on its way too: dropping the source must not cut off the answer.
                assert!(once(source.read(&mut [0; 1])).await.is_none());
                yield_now().await;
                write_all(&source, &vec![7; size]).await;
                drop(source);
            });
            run_until(world, || reader.is_finished());
            assert_eq!(reader.join().unwrap(), vec![7; size]);
        }
    });
}

#[test]
fn shutting_down_comes_after_what_was_written() {
    both_ways(|world| {
        let (source, mut peer) = tcp_pair();
        let reader = std::thread::spawn(move || {
            let mut got = Vec::new();
            peer.read_to_end(&mut got).unwrap();
            (got, peer)
        });
        world.block_on(async move {
            write_all(&source, b"first ").await;
            write_all(&source, b"second").await;
            source.shutdown(Shutdown::Write).unwrap();
            let mut failed = source.write(b"late").await;
            while failed.is_ok() {
                yield_now().await;
                failed = source.write(b"late").await;
            }
            assert_eq!(failed.unwrap_err().kind(), ErrorKind::BrokenPipe);
        });
        run_until(world, || reader.is_finished());
        assert_eq!(reader.join().unwrap().0, b"first second");
    });
}

#[test]
fn writes_of_all_kinds_keep_their_order() {
    both_ways(|world| {
        let (a, b) = std_pair();
        let (source, peer) = (stream(a), stream(b));
        let writing = world.spawn(async move {
            let mut expected = Vec::new();
            for round in 0..200usize {
                let size = [1, 100, 4_000, 9_000, 30_000][round % 5];
                let bytes: Vec<u8> = (0..size).map(|n| (n + round) as u8).collect();
                if round % 3 == 0 {
                    let mut at = 0;
                    while at < size {
                        let half = (size - at).div_ceil(2);
                        let slices = [
                            IoSlice::new(&bytes[at..at + half]),
                            IoSlice::new(&bytes[at + half..]),
                        ];
                        let write = |cx: &mut std::task::Context<'_>| {
                            source.poll_write_vectored(cx, &slices)
                        };
                        at += std::future::poll_fn(write).await.unwrap();
                    }
                } else {
                    write_all(&source, &bytes).await;
                }
                expected.extend_from_slice(&bytes);
            }
            expected
        });
        world.block_on(async move {
            let mut got = Vec::new();
            let mut buf = vec![0; 7_000];
            loop {
                let count = peer.read(&mut buf).await.unwrap();
                if count == 0 {
                    break;
                }
                got.extend_from_slice(&buf[..count]);
            }
            assert!(got == writing.await);
        });
    });
}

#[test]
fn what_was_written_leaves_when_another_thread_reaps() {
    both_ways(|world| {
        let (source, mut peer) = tcp_pair();
        world.block_on_local(async {
            assert!(once(source.read(&mut [0; 1])).await.is_none());
            // Within one poll: the write, and then the owner keeps its thread.
            write_all(&source, b"x").await;
            let remote = world.driver.remote();
            let helper = std::thread::spawn(move || {
                remote.try_rescue(64, true);
                let mut byte = [0];
                peer.read_exact(&mut byte).unwrap();
                // Whoever submits for others does not end before they are done.
                (byte, peer)
            });
            assert_eq!(helper.join().unwrap().0, *b"x");
        });
    });
}
