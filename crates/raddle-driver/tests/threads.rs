//! I/O across threads: posted, moved, rescued, refused.

mod common;

use common::*;
use raddle_driver::{Config, NO_RUNTIME, Source, SourceKind, install_remote, op};
use std::io::{Read, Write};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

struct Unpark(std::thread::Thread);

impl std::task::Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread, which has no driver of its own.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        std::thread::park();
    }
}

/// Keeps a driver going on this thread until `done` is set.
fn serve(world: &World, done: &AtomicBool) {
    while !done.load(Ordering::Acquire) {
        world.turn(None);
    }
}

/// Runs `body` on a thread without a driver while this thread serves its I/O.
fn beside(world: &World, body: impl FnOnce() + Send + 'static) {
    let done = Arc::new(AtomicBool::new(false));
    let remote = world.driver.remote();
    let thread = std::thread::spawn({
        let done = Arc::clone(&done);
        move || {
            struct Mark(Arc<AtomicBool>, Arc<raddle_driver::Remote>);
            impl Drop for Mark {
                fn drop(&mut self) {
                    self.0.store(true, Ordering::Release);
                    self.1.unpark();
                }
            }
            let _mark = Mark(done, Arc::clone(&remote));
            let _guard = install_remote(remote);
            body();
        }
    });
    serve(world, &done);
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn io_of_a_thread_without_a_driver_is_posted() {
    on_each(|world| {
        let (listener, addr) = listener();
        beside(world, move || {
            let (source, mut peer) = tcp_pair();
            let echo = std::thread::spawn(move || {
                let mut buf = [0; 5];
                while peer.read_exact(&mut buf).is_ok() {
                    peer.write_all(&buf).unwrap();
                }
            });
            block_on(async move {
                for round in 0..200u32 {
                    let message = format!("{round:05}");
                    write_all(&source, message.as_bytes()).await;
                    assert_eq!(read_exact(&source, 5).await, message.as_bytes());
                }
                let client = std::net::TcpStream::connect(addr).unwrap();
                let (accepted, _) = listener.accept().await.unwrap();
                drop((client, accepted));
                let path = std::ffi::CString::new("/dev/null").unwrap();
                let file = Arc::new(op::open(path, libc::O_RDWR, 0).await.unwrap());
                let (count, _) = op::write(&file, b"gone".to_vec(), None).await;
                assert_eq!(count.unwrap(), 4);
                // Dropped on this thread too: the cancellation is posted.
                assert!(once(source.read(&mut [0; 1])).await.is_none());
                drop(source);
            });
            echo.join().unwrap();
        });
    });
}

#[test]
fn a_thread_without_any_driver_gets_a_clear_error() {
    let (a, _b) = std_pair();
    let refused = Source::from_fd(a.into(), SourceKind::Stream).unwrap_err();
    assert_eq!(refused.error.to_string(), NO_RUNTIME);
    on_each(|_world| {
        let (source, mut peer) = tcp_pair();
        std::thread::spawn(move || {
            let error = block_on(source.read(&mut [0; 4])).unwrap_err();
            assert_eq!(error.to_string(), NO_RUNTIME);
            // What needs no waiting works all the same.
            peer.write_all(b"x").unwrap();
            while source.try_read(&mut [0; 4]).is_err() {
                std::thread::yield_now();
            }
        })
        .join()
        .unwrap();
    });
}

#[test]
fn a_task_that_moves_takes_its_source_along() {
    for backend in backends() {
        watched(move || {
            let first = World::new(&Config::new(backend, Arc::new(Threads)));
            let (source, mut peer) = tcp_pair();
            let source = Arc::new(source);
            // Registered here, or a receive is on its way here.
            let early = Arc::clone(&source);
            first.block_on(async move {
                assert!(once(std::future::poll_fn(|cx| early.poll_readable(cx))).await.is_none());
                yield_now().await;
            });
            let done = Arc::new(AtomicBool::new(false));
            let second = std::thread::spawn({
                let (done, remote) = (Arc::clone(&done), first.driver.remote());
                move || {
                    let world = World::new(&Config::new(backend, Arc::new(Threads)));
                    world.block_on(async move {
                        let mut got = Vec::new();
                        let mut buf = [0; 16];
                        while got.len() < 200 {
                            let count = std::future::poll_fn(|cx| {
                                let buf = &mut buf[..];
                                // SAFETY: initialised bytes, written with initialised ones only.
                                let room = unsafe {
                                    &mut *(std::ptr::from_mut(buf)
                                        as *mut [std::mem::MaybeUninit<u8>])
                                };
                                source.poll_read(cx, room)
                            });
                            let count = count.await.unwrap();
                            got.extend_from_slice(&buf[..count]);
                        }
                        assert_eq!(got, (0..200).collect::<Vec<u8>>());
                    });
                    done.store(true, Ordering::Release);
                    remote.unpark();
                }
            });
            let feeder = std::thread::spawn(move || {
                for n in 0..200 {
                    peer.write_all(&[n]).unwrap();
                    // One wait for each byte, most of the time.
                    std::thread::yield_now();
                }
                peer
            });
            serve(&first, &done);
            second.join().unwrap();
            feeder.join().unwrap();
        });
    }
}

#[test]
fn a_stuck_owner_is_rescued() {
    on_each(|world| {
        let (source, mut peer) = tcp_pair();
        world.block_on(async move {
            let woken = Arc::new(Woken(AtomicBool::new(false)));
            let waker = Waker::from(Arc::clone(&woken));
            let poll = |waker: &Waker| {
                let mut cx = Context::from_waker(waker);
                source.poll_readable(&mut cx).is_ready()
            };
            assert!(!poll(&waker));
            yield_now().await;
            assert!(!poll(&waker));
            RESCUE.with(|rescue| *rescue.borrow_mut() = Some((woken, source)));
        });
        let (woken, source) = RESCUE.with(|rescue| rescue.borrow_mut().take()).unwrap();
        world.driver.submit();
        let remote = world.driver.remote();
        let rescuer = std::thread::spawn({
            let woken = Arc::clone(&woken);
            move || {
                peer.write_all(b"x").unwrap();
                while !woken.0.load(Ordering::Acquire) {
                    remote.nudge();
                    let _ = remote.try_rescue(64, true);
                    std::thread::sleep(Duration::from_millis(1));
                }
                peer
            }
        });
        // Stuck: runs, and never looks.
        while !woken.0.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        rescuer.join().unwrap();
        assert_eq!(source.try_read(&mut [0; 4]).unwrap(), 1);
        // The owner finds its ring in order.
        world.block_on(async move {
            let (a, b) = std_pair();
            let (a, b) = (stream(a), stream(b));
            write_all(&a, b"after").await;
            assert_eq!(read_exact(&b, 5).await, b"after");
            drop(source);
        });
    });
}

struct Woken(AtomicBool);

impl std::task::Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

thread_local! {
    static RESCUE: std::cell::RefCell<Option<(Arc<Woken>, Source)>> =
        const { std::cell::RefCell::new(None) };
}
