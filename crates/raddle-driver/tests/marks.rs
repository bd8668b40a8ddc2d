//! The doorbell is marked as polled exactly while somebody waits for an event that only a system
//! call reveals: counted by the owner's own reads of the mark, on epoll.

mod common;

use common::*;
use raddle_base::clock::Instant;
use raddle_driver::{Backend, Source, SourceKind, install_remote, op};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;

/// What the owner would find before a dispatch: is it marked, does it ring?
fn marks(world: &World) -> (bool, bool) {
    let bell = world.driver.doorbell();
    (bell.is_polled(), bell.rung())
}

const QUIET: (bool, bool) = (false, false);
const POLLED: (bool, bool) = (true, false);

/// Polls `future` once, on a thread of its own that has `world`'s driver; runs `after` before the
/// future is dropped there.
fn polled_elsewhere<F>(world: &World, make: impl FnOnce() -> F + Send, after: impl FnOnce())
where
    F: Future,
{
    let remote = world.driver.remote();
    let (reached, go_on) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let _guard = install_remote(remote);
            let mut future = pin!(make());
            let polled = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
            reached.wait();
            go_on.wait();
        });
        reached.wait();
        after();
        go_on.wait();
    });
}

fn pair() -> (Source, UnixStream) {
    let (a, b) = UnixStream::pair().unwrap();
    (stream(a), b)
}

#[test]
fn marked_from_the_wait_to_the_event() {
    on(Backend::Epoll, |world| {
        let (source, mut peer) = pair();
        assert_eq!(marks(world), QUIET, "made, and nobody waits");
        let source = Rc::new(source);
        let task = world.spawn({
            let source = Rc::clone(&source);
            async move { read_exact(&source, 1).await }
        });
        world.run_ready();
        assert_eq!(marks(world), POLLED);
        world.driver.look(64);
        assert_eq!(marks(world), POLLED, "a look without events leaves it");
        peer.write_all(b"x").unwrap();
        world.driver.look(64);
        assert_eq!(marks(world), QUIET, "the event was told");
        assert_eq!(world.block_on(task), b"x");
        assert_eq!(marks(world), QUIET, "registered still, and nobody waits");
        assert!(once_on(world, async move { source.read(&mut [0; 1]).await }).is_none());
        assert_eq!(marks(world), QUIET, "the future was dropped, and the source");
    });
}

/// Runs `once` on the world.
fn once_on<F: Future + 'static>(world: &World, future: F) -> Option<F::Output>
where
    F::Output: 'static,
{
    world.block_on(once(future))
}

#[test]
fn a_dropped_wait_takes_its_mark_and_leaves_those_of_others() {
    on(Backend::Epoll, |world| {
        let (source, _peer) = pair();
        let (other, mut other_peer) = pair();
        let (source, other) = (Rc::new(source), Rc::new(other));
        world.block_on({
            let source = Rc::clone(&source);
            async move { assert!(once(source.read(&mut [0; 1])).await.is_none()) }
        });
        assert_eq!(marks(world), QUIET, "dropped while it waited");
        let task = world.spawn({
            let other = Rc::clone(&other);
            async move { other.readable().await }
        });
        world.run_ready();
        // Another wait for the same source, and one for another, come and go.
        for waited in [&source, &other] {
            let waited = Rc::clone(waited);
            world.block_on(async move { assert!(once(waited.readable()).await.is_none()) });
        }
        assert_eq!(marks(world), POLLED);
        other_peer.write_all(b"x").unwrap();
        world.block_on(task).unwrap();
        assert_eq!(marks(world), QUIET);
    });
}

#[test]
fn each_direction_counts_for_itself() {
    on(Backend::Epoll, |world| {
        let (source, mut peer) = full_pair();
        let source = Rc::new(source);
        let writer = world.spawn({
            let source = Rc::clone(&source);
            async move { source.write(b"x").await }
        });
        world.run_ready();
        let reader = world.spawn({
            let source = Rc::clone(&source);
            async move { read_exact(&source, 1).await }
        });
        world.run_ready();
        peer.write_all(b"x").unwrap();
        assert_eq!(world.block_on(reader), b"x");
        assert_eq!(marks(world), POLLED, "the writer still waits");
        assert!(!writer.is_done());
        drop(peer);
        assert!(world.block_on(writer).is_err());
        assert_eq!(marks(world), QUIET);
    });
}

#[test]
fn a_source_dropped_by_a_poll_functions_caller_is_counted_out() {
    on(Backend::Epoll, |world| {
        let (source, _peer) = pair();
        let source = Rc::new(source);
        world.block_on({
            let source = Rc::clone(&source);
            async move {
                let polled =
                    once(std::future::poll_fn(|cx| source.poll_readable(cx))).await.is_none();
                assert!(polled);
            }
        });
        assert_eq!(marks(world), POLLED, "a waker is left with the source");
        drop(source);
        assert_eq!(marks(world), QUIET);
    });
}

#[test]
fn the_first_wait_on_another_thread_rings() {
    on(Backend::Epoll, |world| {
        let (source, _peer) = pair();
        let source = Arc::new(source);
        polled_elsewhere(
            world,
            || source.readable(),
            || {
                assert_eq!(marks(world), (false, true));
                world.driver.look(64);
                assert_eq!(marks(world), POLLED);
            },
        );
        // Given up over there: the next look finds out.
        world.driver.look(64);
        assert_eq!(marks(world), QUIET);
    });
}

#[test]
fn a_wait_goes_along_when_another_task_moves_its_source() {
    on(Backend::Epoll, |here| {
        let (source, mut peer) = pair();
        let source = Arc::new(source);
        let reader = here.spawn({
            let source = Arc::clone(&source);
            async move { source.readable().await }
        });
        here.run_ready();
        assert_eq!(marks(here), POLLED);
        thread::scope(|scope| {
            scope.spawn(|| {
                let config = raddle_driver::Config::new(Backend::Epoll, Arc::new(common::Threads));
                let there = World::new(&config);
                // Many waits in a row over here take the source along.
                for _ in 0..100 {
                    there.block_on_local(async {
                        assert!(once(source.readable()).await.is_none());
                    });
                }
                assert_eq!(marks(&there), POLLED, "the reader of the other thread waits here now");
                peer.write_all(b"x").unwrap();
                there.driver.park(None);
                assert_eq!(marks(&there), QUIET);
            });
        });
        here.driver.look(64);
        assert_eq!(marks(here), QUIET);
        here.block_on(reader).unwrap();
    });
}

#[test]
fn connecting_and_pausing_count() {
    on(Backend::Epoll, |world| {
        let (listener, addr) = listener();
        let listener = Rc::new(listener);
        let accept = world.spawn({
            let listener = Rc::clone(&listener);
            async move { listener.accept().await }
        });
        world.run_ready();
        assert_eq!(marks(world), POLLED);
        let socket = std::net::TcpStream::connect(addr).unwrap();
        world.block_on(accept).unwrap();
        assert_eq!(marks(world), QUIET);
        drop(socket);
        let unix = UnixStream::pair().unwrap();
        let source = Source::from_fd(unix.0.into(), SourceKind::Stream).unwrap();
        let receive = op::recv(&source, vec![0u8; 1]);
        assert!(world.block_on_local(once(receive)).is_none());
        assert_eq!(marks(world), QUIET);
    });
}

#[test]
fn nothing_is_marked_after_the_close_and_never_on_a_ring() {
    on_each(|world| {
        let (source, _peer) = pair();
        let source = Rc::new(source);
        let task = world.spawn({
            let source = Rc::clone(&source);
            async move { source.readable().await }
        });
        world.run_ready();
        assert_eq!(world.driver.doorbell().is_polled(), !world.is_uring());
        world.driver.close(Instant::now() + std::time::Duration::from_secs(10));
        assert!(!world.driver.doorbell().is_polled());
        drop(task);
    });
}
