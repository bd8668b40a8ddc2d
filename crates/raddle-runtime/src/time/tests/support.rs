//! What the tests share: wakers that count, a clock wound by hand.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};

use crate::time::{Instant, Timers};

/// Counts its wakes.
#[derive(Default)]
pub(crate) struct Count(AtomicUsize);

impl Count {
    pub(crate) fn new() -> (Arc<Count>, Waker) {
        let count = Arc::new(Count::default());
        (Arc::clone(&count), Waker::from(count))
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Relaxed)
    }
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

thread_local! {
    static HAND: Cell<u64> = const { Cell::new(1_000_000_000) };
}

/// Sets this thread's hand-wound clock.
pub(crate) fn wind(nanos: u64) {
    HAND.set(nanos);
}

/// Reads this thread's hand-wound clock.
pub(crate) fn hand() -> Instant {
    Instant::from_nanos(HAND.get())
}

/// Timers on the hand-wound clock, and how often their owner was called.
pub(crate) fn timers() -> (Arc<Timers>, Arc<Count>) {
    let calls = Arc::new(Count::default());
    let notifier = Arc::clone(&calls);
    let timers = Timers::with_clock(move || Arc::clone(&notifier).wake(), hand);
    (Arc::new(timers), calls)
}

/// Polls once.
pub(crate) fn poll<F: Future>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}
