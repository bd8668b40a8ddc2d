//! Held input: order, ends, and buffers that come back whatever is cancelled.

use super::*;
use crate::config::Config;
use crate::interest::Direction;
use crate::offload::NoOffload;
use crate::probe::{Backend, Choice, choose};
use crate::remote::{Inner, Remote};
use crate::shell::{Shell, SourceKind};
use crate::uring::source::UringSource;
use crate::{current, waiters::Seat};
use raddle_base::clock::Instant;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::task::{Context, Waker};
use std::time::Duration;

/// A ring of eight small buffers on this thread; `None`, with the reason said, if refused.
fn small_ring() -> Option<Arc<Ring>> {
    if let Err(refusal) = choose(Choice::Uring) {
        println!("left out: {refusal}");
        return None;
    }
    let mut config = Config::new(Backend::Uring, Arc::new(NoOffload));
    (config.buffers, config.buffer_size) = (8, 64);
    Some(Arc::new(Ring::new(&config).expect("a ring")))
}

/// How many buffers the kernel has at its disposal; `None` if it does not tell.
fn available(ring: &Ring) -> Option<u16> {
    ring.pool().reclaim();
    let inflight = ring.inflight.lock();
    let picked = inflight.uring.as_ref().expect("an open ring").buffers_head(GROUP);
    drop(inflight);
    Some(ring.pool().given().wrapping_sub(picked.ok()? as u16))
}

fn read(source: &Arc<UringSource>, into: &mut [u8]) -> Option<usize> {
    let into = std::cell::RefCell::new(as_room(into));
    let attempt = source.attempt_stream(
        |held| held.take(&mut into.borrow_mut()),
        |_| Err(io::ErrorKind::WouldBlock.into()),
        |_| false,
    );
    match attempt {
        crate::shell::Attempt::Done(result) => Some(result.expect("no error")),
        crate::shell::Attempt::Blocked => None,
    }
}

fn wait(source: &Arc<UringSource>) {
    let mut cx = Context::from_waker(Waker::noop());
    let _ = source.poll_wait(Direction::Read, Seat::Cell, &mut cx);
}

/// Parks until every buffer is with the kernel again, then closes the ring: a request that was
/// still in flight would keep it for ever.
fn wait_for_all(ring: &Ring) {
    let patience = Instant::now() + Duration::from_secs(60);
    while available(ring).unwrap_or(8) < 8 {
        assert!(Instant::now() < patience, "{:?} of 8 buffers came back", available(ring));
        ring.park(soon());
    }
    assert_eq!(ring.close(Instant::now() + Duration::from_secs(60)), 0, "requests in flight");
}

fn soon() -> Option<Instant> {
    Some(Instant::now() + Duration::from_millis(1))
}

#[test]
fn cancelled_receives_give_every_buffer_back() {
    let Some(ring) = small_ring() else { return };
    let _guard = current::install_remote(Arc::new(Remote::new(Inner::Uring(Arc::clone(&ring)))));
    for round in 0..1000u32 {
        let (a, mut b) = UnixStream::pair().unwrap();
        let shell = Shell::new(a.into(), SourceKind::Stream).map_err(|(error, _)| error).unwrap();
        let source = UringSource::new(shell);
        wait(&source);
        ring.look(64);
        b.write_all(&round.to_ne_bytes()).unwrap();
        if round % 3 == 0 {
            ring.look(64);
        }
        // Cancelled while the bytes arrive, or after, or before they are reaped.
        source.abandon();
        if round % 2 == 0 {
            ring.look(64);
        }
    }
    wait_for_all(&ring);
}

#[test]
fn an_unread_stream_holds_few_buffers_and_keeps_every_byte() {
    let Some(ring) = small_ring() else { return };
    let _guard = current::install_remote(Arc::new(Remote::new(Inner::Uring(Arc::clone(&ring)))));
    let (a, mut b) = UnixStream::pair().unwrap();
    let shell = Shell::new(a.into(), SourceKind::Stream).map_err(|(error, _)| error).unwrap();
    let source = UringSource::new(shell);
    wait(&source);
    ring.look(64);
    let mut sent = 0u32;
    for _ in 0..20 {
        b.write_all(&sent.to_be_bytes()).unwrap();
        sent += 1;
        ring.park(soon());
        ring.look(64);
    }
    let left = available(&ring).unwrap_or(8);
    assert!(left >= 5, "{} of 8 buffers are held by a stream nobody reads", 8 - left);
    let mut got = Vec::new();
    while got.len() < sent as usize * 4 {
        let mut buf = [0; 16];
        match read(&source, &mut buf) {
            Some(count) => got.extend_from_slice(&buf[..count]),
            None => {
                wait(&source);
                ring.park(soon());
            }
        }
    }
    let expected: Vec<u8> = (0..sent).flat_map(u32::to_be_bytes).collect();
    assert_eq!(got, expected);
    source.abandon();
    wait_for_all(&ring);
}

#[test]
fn an_empty_pool_makes_nobody_wait() {
    let Some(ring) = small_ring() else { return };
    let _guard = current::install_remote(Arc::new(Remote::new(Inner::Uring(Arc::clone(&ring)))));
    let mut streams = Vec::new();
    for _ in 0..16 {
        let (a, b) = UnixStream::pair().unwrap();
        let shell = Shell::new(a.into(), SourceKind::Stream).map_err(|(error, _)| error).unwrap();
        let source = UringSource::new(shell);
        wait(&source);
        streams.push((source, b));
    }
    ring.look(64);
    for (_, peer) in &mut streams {
        peer.write_all(b"a").unwrap();
        peer.write_all(b"b").unwrap();
    }
    // Nobody reads the first twelve; the last four get their bytes all the same.
    for (source, _) in &streams[12..] {
        let mut got = Vec::new();
        while got.len() < 2 {
            let mut buf = [0; 4];
            match read(source, &mut buf) {
                Some(count) => got.extend_from_slice(&buf[..count]),
                None => {
                    wait(source);
                    ring.park(soon());
                }
            }
        }
        assert_eq!(got, b"ab");
    }
    for (source, _) in streams {
        source.abandon();
    }
    wait_for_all(&ring);
}
