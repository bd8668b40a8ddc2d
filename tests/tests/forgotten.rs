//! Futures, guards and handles that are forgotten half way are a leak at worst: what they waited
//! for may go first, others are served, and the runtime ends.

use std::any::Any;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

use raddle::fs::File;
use raddle::net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use raddle::sync::{CancellationToken, Notify, Semaphore, mpsc, oneshot};
use raddle::task::{JoinSet, yield_now};
use raddle::time::{interval, sleep, timeout};
use raddle::{Builder, LocalRuntime};
use raddle_tests::watched;

/// What is forgotten is kept where a tool that looks for leaks finds it.
struct Kept(#[expect(dead_code, reason = "it is there to be found, and never looked at")] *mut ());

// SAFETY: the pointer is never used again.
unsafe impl Send for Kept {}

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// Polls a future once or twice and forgets it where it is.
fn forget<F: Future>(future: F) {
    let mut future = Box::pin(future);
    for _ in 0..2 {
        if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            return;
        }
    }
    // SAFETY: nothing is moved out of the allocation, which is never freed: pinned for ever.
    let raw = Box::into_raw(unsafe { Pin::into_inner_unchecked(future) });
    KEPT.lock().unwrap().push(Kept(raw.cast()));
}

/// Forgets a value.
fn keep(value: impl Any) {
    KEPT.lock().unwrap().push(Kept(Box::into_raw(Box::new(value)).cast()));
}

fn on_each<F: Future<Output = ()>>(test: impl Fn() -> F + Send + Copy + 'static) {
    watched(move || {
        for workers in [1, 2] {
            Builder::new().workers(workers).build().unwrap().run(test());
        }
        LocalRuntime::new().unwrap().run(test());
    });
}

#[test]
fn waits_on_primitives() {
    on_each(|| async {
        let semaphore = Semaphore::new(1);
        let held = semaphore.acquire().await.unwrap();
        forget(semaphore.acquire());
        drop(held);
        // The forgotten one was first in line and has the permit; the primitive itself is whole.
        semaphore.add_permits(1);
        let permit = semaphore.acquire().await.unwrap();
        mem::forget(permit);
        forget(semaphore.acquire_many(5));
        semaphore.close();
        assert!(semaphore.acquire().await.is_err());

        let notify = Notify::new();
        forget(notify.notified());
        notify.notify_waiters();
        forget(notify.notified());
        notify.notify_one();
        notify.notify_one();
        notify.notified().await;

        let (sender, mut receiver) = mpsc::channel(1);
        sender.send(1).await.unwrap();
        forget(sender.send(2));
        forget(sender.reserve());
        assert_eq!(receiver.recv().await, Some(1));
        drop((sender, receiver));

        let (sender, receiver) = oneshot::channel::<u32>();
        forget(receiver);
        let _ = sender.send(1);

        let token = CancellationToken::new();
        forget(token.cancelled());
        let child = token.child_token();
        token.cancel();
        child.cancelled().await;
    });
}

#[test]
fn timers_and_tasks() {
    on_each(|| async {
        forget(sleep(Duration::from_micros(200)));
        forget(sleep(Duration::from_secs(3600)));
        forget(timeout(Duration::from_micros(100), std::future::pending::<()>()));
        let mut ticks = interval(Duration::from_micros(50));
        ticks.tick().await;
        keep(ticks);
        forget(yield_now());
        keep(raddle::spawn(async { 1 }));
        forget(raddle::spawn(std::future::pending::<()>()));
        forget(raddle::spawn_blocking(|| 1));
        let mut set = JoinSet::new();
        set.spawn(std::future::pending::<()>());
        set.spawn(async {});
        forget(async move {
            let _ = set.join_next().await;
            std::future::pending::<()>().await;
        });
        sleep(Duration::from_micros(500)).await;
        assert_eq!(raddle::spawn(async { 2 }).await.unwrap(), 2);
    });
}

/// The socket goes while a forgotten wait is in its lists, and its number is used again.
#[test]
fn input_and_output() {
    on_each(|| async {
        for _ in 0..20 {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let addr = listener.local_addr().unwrap();
            let (near, far) = raddle::join!(TcpStream::connect(addr), listener.accept());
            let (near, far) = (near.unwrap(), far.unwrap().0);
            forget(listener.accept());
            let mut buf = [0; 16];
            forget(far.read(&mut buf));
            forget(far.readable());
            forget(far.read_owned(vec![0; 16]));
            forget(near.write_all_owned(vec![1; 16 << 20]));
            drop((listener, far));
            // The peer is told, whatever was forgotten here.
            while near.write(&[1]).await.is_ok() {
                yield_now().await;
            }
            drop(near);
            let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            forget(udp.recv_owned(vec![0; 16]));
            drop(udp);
            forget(File::open("/proc/self/stat"));
            let file = File::open("/proc/self/exe").await.unwrap();
            forget(file.read_at(vec![0; 4096], 0));
            drop(file);
            let (a, b) = UnixStream::pair().unwrap();
            a.write_all(b"well").await.unwrap();
            let mut well = [0; 4];
            b.read_exact(&mut well).await.unwrap();
            assert_eq!(&well, b"well");
        }
    });
}

#[test]
fn guards_of_a_runtime() {
    watched(|| {
        let runtime = Arc::new(Builder::new().workers(1).build().unwrap());
        let theirs = Arc::clone(&runtime);
        // On a thread of its own, whose current runtime it stays.
        std::thread::spawn(move || {
            keep(theirs.enter());
            assert_eq!(raddle::sync::block_on(raddle::spawn(async { 1 })).unwrap(), 1);
        })
        .join()
        .unwrap();
        let runtime = Arc::into_inner(runtime).expect("the thread has ended");
        assert!(runtime.shutdown_timeout(Duration::from_secs(30)).tasks.is_empty());
    });
}
