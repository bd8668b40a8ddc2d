//! What the tests of all primitives share: wakers that count, wakers that bite, a watchdog.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::time::Duration;

use raddle_runtime::park::ThreadDrivers;
use raddle_runtime::{Config, Runtime};

/// Runs `body` on a thread of its own and fails if it is not done within a minute.
pub(crate) fn watchdog<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, wait) = channel();
    let thread = std::thread::spawn(move || {
        let result = body();
        let _ = done.send(());
        result
    });
    match wait.recv_timeout(Duration::from_secs(60)) {
        Err(RecvTimeoutError::Timeout) => panic!("the test hangs"),
        _ => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}

/// A runtime of two workers without a kernel's driver.
pub(crate) fn runtime() -> Runtime {
    let config = Config { workers: 2, ..Config::default() };
    Runtime::new(config, Box::new(ThreadDrivers)).expect("a runtime starts")
}

/// Counts its wakes. Live clones are seen through `Arc::strong_count`.
#[derive(Default)]
pub(crate) struct Counter(AtomicUsize);

impl Counter {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(SeqCst)
    }
}

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// A pinned future together with a counting waker of its own.
pub(crate) struct Polled<F> {
    pub(crate) future: Pin<Box<F>>,
    pub(crate) counter: Arc<Counter>,
}

impl<F: Future> Polled<F> {
    pub(crate) fn new(future: F) -> Self {
        Polled { future: Box::pin(future), counter: Counter::new() }
    }

    /// Made and polled once, which must be pending.
    #[track_caller]
    pub(crate) fn pending(future: F) -> Self {
        let mut polled = Polled::new(future);
        assert!(polled.poll().is_pending());
        polled
    }

    pub(crate) fn poll(&mut self) -> Poll<F::Output> {
        let waker = Waker::from(self.counter.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    pub(crate) fn poll_with(&mut self, waker: &Waker) -> Poll<F::Output> {
        self.future.as_mut().poll(&mut Context::from_waker(waker))
    }

    #[track_caller]
    pub(crate) fn ready(&mut self) -> F::Output {
        match self.poll() {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("not ready"),
        }
    }

    pub(crate) fn wakes(&self) -> usize {
        self.counter.count()
    }
}

/// The output of a future that is ready at its first poll.
#[track_caller]
pub(crate) fn now<F: Future>(future: F) -> F::Output {
    Polled::new(future).ready()
}

/// What happens to a [`hostile`] waker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Clone,
    Wake,
    Drop,
}

struct Hostile(Box<dyn Fn(Event) + Send + Sync>);

/// A waker that runs `act` wherever a waker can run code.
pub(crate) fn hostile(act: impl Fn(Event) + Send + Sync + 'static) -> Waker {
    raw(Arc::new(Hostile(Box::new(act))))
}

/// A waker that panics when it is called.
pub(crate) fn refusing() -> Waker {
    hostile(|event| assert!(event != Event::Wake, "the waker refuses"))
}

fn raw(hostile: Arc<Hostile>) -> Waker {
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);
    // SAFETY: the four functions treat the pointer as an `Arc<Hostile>`, which it is.
    unsafe { Waker::from_raw(RawWaker::new(Arc::into_raw(hostile).cast(), &VTABLE)) }
}

fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker that is cloned keeps the `Arc` alive.
    let hostile = unsafe { &*data.cast::<Hostile>() };
    (hostile.0)(Event::Clone);
    // SAFETY: as above; the count grows for the clone.
    unsafe { Arc::increment_strong_count(data.cast::<Hostile>()) };
    // SAFETY: the clone owns the count added above.
    let clone = std::mem::ManuallyDrop::new(raw(unsafe { Arc::from_raw(data.cast()) }));
    RawWaker::new(clone.data(), clone.vtable())
}

fn wake(data: *const ()) {
    // SAFETY: the waker owned one count, which goes at the end, also if the call panics.
    let hostile = unsafe { Arc::from_raw(data.cast::<Hostile>()) };
    (hostile.0)(Event::Wake);
    (hostile.0)(Event::Drop);
}

fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker that is called keeps the `Arc` alive.
    let hostile = unsafe { &*data.cast::<Hostile>() };
    (hostile.0)(Event::Wake);
}

fn drop_waker(data: *const ()) {
    // SAFETY: the waker owned one count, and is gone after this.
    let hostile = unsafe { Arc::from_raw(data.cast::<Hostile>()) };
    (hostile.0)(Event::Drop);
}
