//! What the tests share: a future polled to its end on this thread.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_base::parker::Parker;

/// Unparks on wake.
struct Unpark(Parker);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future to its end.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let parker = Arc::new(Unpark(Parker::new()));
    let waker = Waker::from(Arc::clone(&parker));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => parker.0.park(),
        }
    }
}
