//! What the models share: a model thread that waits for a future, and a number that fails the
//! model when two threads meet in it.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_base::parker::Parker;
use raddle_base::shim::cell::UnsafeCell;

struct Unpark(Parker);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on this model thread.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let parker = Arc::new(Unpark(Parker::new()));
    let waker = Waker::from(parker.clone());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        parker.0.park();
        // A registration that met another side at work has woken itself: let that side finish.
        raddle_base::shim::thread::yield_now();
    }
}

pub(crate) fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A number without atomics: the model fails where two accesses are not ordered.
pub(crate) struct Plain(UnsafeCell<usize>);

// SAFETY: the model checks each access.
unsafe impl Sync for Plain {}
// SAFETY: as above.
unsafe impl Send for Plain {}

impl Plain {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Plain(UnsafeCell::new(0)))
    }

    pub(crate) fn add(&self, count: usize) {
        // SAFETY: the model checks that no other access is under way.
        self.0.with_mut(|p| unsafe { *p += count });
    }

    pub(crate) fn get(&self) -> usize {
        // SAFETY: the model checks that no write is under way.
        self.0.with(|p| unsafe { *p })
    }
}
