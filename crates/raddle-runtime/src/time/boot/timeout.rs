//! A future that is given up at a deadline of the boot-time clock.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use raddle_base::clock::BootInstant;
use raddle_base::context;

use crate::time::Elapsed;
use crate::time::boot::sleep::{Sleep, sleep, sleep_until};

/// Gives `future` at most `duration` by the boot-time clock, counted from this call.
///
/// The future is polled first: what is ready is returned even if the time is over. On time-out it
/// is dropped with the returned `Timeout`; what that means for data under way is its own rule.
///
/// # Errors
///
/// [`Elapsed`] if the time was over first.
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: future.into_future(), delay: sleep(duration) }
}

/// Gives `future` until `deadline`. Otherwise as [`timeout`].
///
/// # Errors
///
/// [`Elapsed`] if the deadline came first.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: BootInstant, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: future.into_future(), delay: sleep_until(deadline) }
}

/// The future of [`timeout`] and [`timeout_at`].
#[must_use = "futures do nothing unless awaited or polled"]
pub struct Timeout<F> {
    future: F,
    delay: Sleep,
}

impl<F> Timeout<F> {
    /// The future, without a limit.
    pub fn into_inner(self) -> F {
        self.future
    }

    /// When the future is given up.
    pub fn deadline(&self) -> BootInstant {
        self.delay.deadline()
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: both fields are pinned with the whole; `into_inner` needs a value that is not
        // pinned or is Unpin, and the type has no destructor of its own.
        let (future, delay) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), Pin::new_unchecked(&mut this.delay))
        };
        if let Poll::Ready(output) = future.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        // Without regard to the budget, which the future may spend in each poll.
        std::task::ready!(delay.poll_unbudgeted(cx));
        context::spend();
        Poll::Ready(Err(Elapsed::new()))
    }
}

impl<F: fmt::Debug> fmt::Debug for Timeout<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout")
            .field("future", &self.future)
            .field("deadline", &self.deadline())
            .finish()
    }
}
