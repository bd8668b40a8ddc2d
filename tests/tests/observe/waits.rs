//! Each kind of wait is told, with the line where it was written.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use raddle::dump::WaitKind;
use raddle::net::UnixStream;
use raddle::sync::{CancellationToken, Latch, Mutex, Notify, RwLock, Semaphore, mpsc, oneshot};
use raddle::task::{Id, JoinSet};
use raddle::time::{sleep, timeout};
use raddle::{Builder, Io, Runtime, spawn};
use raddle_tests::watched;

use super::{runtime, until, wait_of};

const LONG: Duration = Duration::from_secs(1_000);

/// Waits until the task waits for this, at this line of this file.
fn expect(runtime: &Runtime, id: Id, kind: Option<WaitKind>, line: Option<u32>) {
    let wait = until(runtime, |dump| wait_of(dump, id));
    assert_eq!(wait.kind, kind, "{wait}");
    assert_eq!(wait.location.map(|location| location.line()), line, "{wait}");
    assert!(wait.location.is_none_or(|location| location.file() == file!()), "{wait}");
}

/// Spawns a task that waits in the given expression, which is on one line, and expects it to be
/// told.
macro_rules! waits {
    ($runtime:expr, $kind:ident, $wait:expr) => {{
        let task = $runtime.spawn(async move {
            let _ = $wait.await;
        });
        expect($runtime, task.id(), Some(WaitKind::$kind), Some(line!()));
        task.abort();
    }};
}

#[test]
fn waits_for_primitives() {
    watched(|| {
        let runtime = &runtime(1);
        let permits = Semaphore::new(0);
        waits!(runtime, Permits, permits.acquire());
        let notify = Notify::new();
        waits!(runtime, Notification, notify.notified());
        let token = CancellationToken::new();
        waits!(runtime, Cancellation, token.cancelled());
        let latch = Latch::new(1);
        waits!(runtime, Event, latch.wait());
    });
}

#[test]
fn waits_for_channels() {
    watched(|| {
        let runtime = &runtime(1);
        let (full, _receiver) = mpsc::channel(1);
        full.try_send(0).unwrap();
        let other = full.clone();
        waits!(runtime, Room, full.send(1));
        waits!(runtime, Closed, other.closed());
        let (_sender, mut empty) = mpsc::channel::<u8>(1);
        waits!(runtime, Value, empty.recv());
        let (_sender, mut empty) = mpsc::unbounded_channel::<u8>();
        waits!(runtime, Value, empty.recv());
        let made = line!() + 1;
        let (mut sender, receiver) = oneshot::channel::<u8>();
        let task = runtime.spawn(async move { sender.closed().await });
        expect(runtime, task.id(), Some(WaitKind::Closed), Some(made));
        let task = runtime.spawn(receiver);
        let (_sender, receiver) = oneshot::channel::<u8>();
        drop(task);
        let task = runtime.spawn(receiver);
        expect(runtime, task.id(), Some(WaitKind::Value), Some(line!() - 3));
    });
}

#[test]
fn waits_for_locks() {
    watched(|| {
        let runtime = &runtime(1);
        let mutex = Arc::new(Mutex::new(0));
        let _held = mutex.try_lock().unwrap();
        let theirs = mutex.clone();
        waits!(runtime, Lock, theirs.lock());
        let lock = Arc::new(RwLock::new(0));
        let _held = lock.try_write().unwrap();
        let theirs = lock.clone();
        waits!(runtime, Lock, theirs.write());
        let theirs = lock.clone();
        waits!(runtime, SharedLock, theirs.read());
    });
}

#[test]
fn waits_for_tasks_and_time() {
    watched(|| {
        let runtime = &runtime(1);
        waits!(runtime, Time, sleep(LONG));
        let _entered = runtime.enter();
        let spawned = line!() + 1;
        let never = spawn(pending::<()>());
        let task = runtime.spawn(never);
        expect(runtime, task.id(), Some(WaitKind::Join), Some(spawned));
        let mut set = JoinSet::new();
        set.spawn(pending::<()>());
        waits!(runtime, Join, set.join_next());
    });
}

#[test]
fn a_limit_tells_of_what_it_limits() {
    watched(|| {
        let runtime = &runtime(1);
        let notify = Notify::new();
        waits!(runtime, Notification, timeout(LONG, notify.notified()));
        waits!(runtime, Time, timeout(LONG, pending::<()>()));
    });
}

#[test]
fn the_last_of_several_waits_counts_and_a_wait_that_is_over_does_not() {
    watched(|| {
        let runtime = &runtime(1);
        let (first, second) = (Arc::new(Notify::new()), Semaphore::new(0));
        let theirs = first.clone();
        let line = line!() + 2;
        let task = runtime.spawn(async move {
            raddle::join!(theirs.notified(), async { drop(second.acquire().await) });
            pending::<()>().await;
        });
        expect(runtime, task.id(), Some(WaitKind::Permits), Some(line));
        // The first is over, the second is polled again and still waits.
        first.notify_one();
        until(runtime, |dump| (dump.workers[0].metrics.dispatches >= 2).then_some(()));
        expect(runtime, task.id(), Some(WaitKind::Permits), Some(line));
        task.abort();
        let first = Arc::new(Notify::new());
        let theirs = first.clone();
        let line = line!() + 2;
        let task = runtime.spawn(async move {
            theirs.notified().await;
            pending::<()>().await;
        });
        expect(runtime, task.id(), Some(WaitKind::Notification), Some(line));
        first.notify_one();
        let foreign = until(runtime, |dump| {
            wait_of(dump, task.id()).filter(|wait| wait.kind != Some(WaitKind::Notification))
        });
        assert_eq!((foreign.kind, foreign.location), (None, None), "{foreign}");
    });
}

/// On each backend that there is.
fn on_each(test: fn(&Runtime)) {
    for io in [Io::Auto, Io::Epoll] {
        watched(move || test(&Builder::new().workers(1).io(io).build().unwrap()));
    }
}

#[test]
fn waits_for_sockets() {
    on_each(|runtime| {
        let (near, far) = runtime.block_on(async { UnixStream::pair().unwrap() });
        let far = Arc::new(far);
        let (theirs, mut byte) = (far.clone(), [0]);
        waits!(runtime, Readable, theirs.read(&mut byte));
        let block = [0; 4096];
        let task = runtime.spawn(async move { while near.write(&block).await.is_ok() {} });
        let line = Some(line!() - 1);
        let wait = until(runtime, |dump| wait_of(dump, task.id()));
        assert!(matches!(wait.kind, Some(WaitKind::Writable | WaitKind::Operation)), "{wait}");
        assert_eq!(wait.location.map(|location| location.line()), line, "{wait}");
        task.abort();
    });
}
