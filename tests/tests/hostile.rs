//! Wakers whose clone, wake and drop use the very thing they wait for: no lock of ours is held
//! while they run, so nothing hangs, and the wait still ends.

use std::cell::Cell;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use raddle::net::{TcpListener, TcpStream, UdpSocket};
use raddle::time::{Duration, Instant, sleep, sleep_until};
use raddle::{Builder, Handle};
use raddle_tests::watched;

thread_local! {
    /// Inside an act: the acts of wakers that it makes and drops do nothing.
    static ACTING: Cell<bool> = const { Cell::new(false) };
}

/// What a hostile waker does at each opportunity, and whom it wakes.
struct Hostile {
    act: Box<dyn Fn() + Send + Sync>,
    acts: Arc<AtomicUsize>,
    inner: Waker,
}

impl Hostile {
    fn strike(&self) {
        if !ACTING.replace(true) {
            (self.act)();
            ACTING.set(false);
            self.acts.fetch_add(1, Ordering::SeqCst);
        }
    }
}

const TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

/// Copies a waker of this table.
///
/// # Safety
///
/// `data` is that of a waker of this table.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the data of each waker of this table is an `Arc<Hostile>` with a count of its own.
    let hostile = unsafe {
        Arc::increment_strong_count(data.cast::<Hostile>());
        &*data.cast::<Hostile>()
    };
    hostile.strike();
    RawWaker::new(data, &TABLE)
}

/// Wakes and ends one.
///
/// # Safety
///
/// `data` is that of a waker of this table.
unsafe fn wake(data: *const ()) {
    // SAFETY: as in `clone`; the count is used up here.
    let hostile = unsafe { Arc::from_raw(data.cast::<Hostile>()) };
    hostile.inner.wake_by_ref();
    hostile.strike();
}

/// Wakes one.
///
/// # Safety
///
/// `data` is that of a waker of this table.
unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: as in `clone`; the count stays with the caller.
    let hostile = unsafe { &*data.cast::<Hostile>() };
    hostile.inner.wake_by_ref();
    hostile.strike();
}

/// Ends one.
///
/// # Safety
///
/// `data` is that of a waker of this table.
unsafe fn drop_waker(data: *const ()) {
    // SAFETY: as in `clone`; the count is used up here.
    let hostile = unsafe { Arc::from_raw(data.cast::<Hostile>()) };
    hostile.strike();
}

/// A waker that wakes `inner` and acts.
fn hostile(inner: &Waker, acts: &Arc<AtomicUsize>, act: Box<dyn Fn() + Send + Sync>) -> Waker {
    let hostile = Arc::new(Hostile { act, acts: acts.clone(), inner: inner.clone() });
    // SAFETY: the table's functions keep the counts of the Arc whose pointer this is.
    unsafe { Waker::from_raw(RawWaker::new(Arc::into_raw(hostile).cast(), &TABLE)) }
}

/// Awaits `future` with wakers that act, a new one for each poll; how often they acted.
async fn awaited<F: Future>(
    future: F,
    act: impl Fn() + Send + Sync + Clone + 'static,
) -> (F::Output, usize) {
    let mut future = pin!(future);
    let acts = Arc::new(AtomicUsize::new(0));
    let output = std::future::poll_fn(|cx| {
        // Twice, so that the second replaces the first.
        for _ in 0..2 {
            let waker = hostile(cx.waker(), &acts, Box::new(act.clone()));
            let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
            if polled.is_ready() {
                return polled;
            }
        }
        Poll::Pending
    })
    .await;
    (output, acts.load(Ordering::SeqCst))
}

/// Polls a future once and drops it.
fn poke(future: impl Future) {
    let _ = pin!(future).as_mut().poll(&mut Context::from_waker(Waker::noop()));
}

/// Runs `test` with one worker and with two, which wake each other.
fn on_each<F: Future<Output = ()>>(test: impl Fn() -> F + Send + Copy + 'static) {
    watched(move || {
        for workers in [1, 2] {
            Builder::new().workers(workers).build().unwrap().run(test());
        }
    });
}

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (near, far) = raddle::join!(TcpStream::connect(addr), listener.accept());
    (near.unwrap(), far.unwrap().0)
}

#[test]
fn streams() {
    on_each(|| async {
        let (near, far) = pair().await;
        let far = Arc::new(far);
        let theirs = far.clone();
        let act = move || {
            poke(theirs.readable());
            poke(theirs.read(&mut []));
            poke(theirs.writable());
            poke(theirs.peek(&mut [0; 1]));
        };
        let writer = raddle::spawn(async move {
            for _ in 0..20 {
                raddle::task::yield_now().await;
            }
            near.write_all(&[1; 3]).await.unwrap();
            near
        });
        let mut bytes = [0; 3];
        let (done, acts) = awaited(far.read_exact(&mut bytes), act).await;
        done.unwrap();
        assert_eq!(bytes, [1; 3]);
        assert!(acts > 0);
        drop(writer.await.unwrap());
    });
}

#[test]
fn listeners_and_datagrams() {
    on_each(|| async {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let addr = listener.local_addr().unwrap();
        let theirs = listener.clone();
        let client = raddle::spawn(async move {
            // The accepts of wakers take connections as well: there are more.
            loop {
                sleep(Duration::from_micros(500)).await;
                drop(TcpStream::connect(addr).await);
            }
        });
        let pokes = Arc::new(AtomicUsize::new(0));
        let act = move || {
            if pokes.fetch_add(1, Ordering::SeqCst) < 5 {
                poke(theirs.accept());
            }
        };
        let (accepted, acts) = awaited(listener.accept(), act).await;
        accepted.unwrap();
        assert!(acts > 0);
        client.abort();
        let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
        let (theirs, sender) = (socket.clone(), socket.clone());
        let here = socket.local_addr().unwrap();
        let send = raddle::spawn(async move {
            sleep(Duration::from_micros(500)).await;
            sender.send_to(b"x", here).await.unwrap()
        });
        let act = move || poke(theirs.readable());
        let mut byte = [0; 4];
        let (received, acts) = awaited(socket.recv_from(&mut byte), act).await;
        assert_eq!(received.unwrap(), (1, here));
        assert!(acts > 0);
        send.await.unwrap();
    });
}

#[test]
fn join_handles() {
    on_each(|| async {
        let (handle, runtime) = (
            raddle::spawn(async {
                for _ in 0..50 {
                    raddle::task::yield_now().await;
                }
                5
            }),
            Handle::current(),
        );
        let abort = handle.abort_handle();
        let act = move || {
            let _ = (abort.clone().is_finished(), abort.id());
            runtime.spawn(async {}).detach();
            poke(runtime.spawn(async {}));
        };
        let (output, acts) = awaited(handle, act).await;
        assert_eq!(output.unwrap(), 5);
        assert!(acts > 0);
        // A waker that aborts the task it waits for.
        let endless = raddle::spawn(std::future::pending::<()>());
        let abort = endless.abort_handle();
        let (output, acts) = awaited(endless, move || abort.abort()).await;
        assert!(output.unwrap_err().is_cancelled());
        assert!(acts > 0);
    });
}

#[test]
fn timers_and_blocking_jobs() {
    on_each(|| async {
        let handle = Handle::current();
        let act = || {
            poke(sleep(Duration::ZERO));
            poke(sleep(Duration::from_micros(50)));
            let mut far = Box::pin(sleep(Duration::MAX));
            poke(far.as_mut());
            Pin::as_mut(&mut far).reset(Instant::now());
        };
        let deadline = Instant::now() + Duration::from_millis(1);
        let ((), acts) = awaited(sleep_until(deadline), act).await;
        assert!(Instant::now() >= deadline && acts > 0);
        let job = raddle::spawn_blocking(|| std::thread::sleep(Duration::from_micros(500)));
        let act = move || handle.spawn_blocking(|| {}).detach();
        let (done, acts) = awaited(job, act).await;
        done.unwrap();
        assert!(acts > 0);
    });
}
