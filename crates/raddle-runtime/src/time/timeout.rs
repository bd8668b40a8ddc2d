//! A future that is given up at a deadline.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::context;

use crate::time::sleep::{Sleep, sleep, sleep_until};

/// Gives `future` at most `duration`, counted from this call.
///
/// The future is polled first: what is ready is returned even if the time is over. It is polled
/// once even with a duration of zero. On time-out it is dropped with the returned `Timeout`; what
/// that means for data under way is its own cancel rule.
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
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: future.into_future(), delay: sleep_until(deadline) }
}

/// The future of [`timeout`] and [`timeout_at`].
#[must_use = "futures do nothing unless awaited or polled"]
pub struct Timeout<F> {
    future: F,
    delay: Sleep,
}

impl<F> Timeout<F> {
    /// The future that is given a limit.
    pub fn get_ref(&self) -> &F {
        &self.future
    }

    /// The future that is given a limit.
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.future
    }

    /// The future, without a limit.
    pub fn into_inner(self) -> F {
        self.future
    }

    /// When the future is given up.
    pub fn deadline(&self) -> Instant {
        self.delay.deadline()
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: both fields are pinned with the whole; `get_mut` and `into_inner` need a value
        // that is not pinned or is Unpin, and the type has no destructor of its own.
        let (future, mut delay) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), Pin::new_unchecked(&mut this.delay))
        };
        if let Poll::Ready(output) = future.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        // Without regard to the budget: a future that spends all of it in each poll would
        // otherwise never be given up.
        if delay.as_mut().poll_unbudgeted(cx).is_pending() {
            // What the future waits for says more than its limit.
            if context::noted().0 == 0 {
                let site = delay.wait_site();
                context::waits(site.kind, Some(site.location));
            }
            return Poll::Pending;
        }
        context::spend();
        Poll::Ready(Err(Elapsed(())))
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

/// The time was over before the future was ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed(());

impl Elapsed {
    pub(crate) fn new() -> Elapsed {
        Elapsed(())
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline has elapsed")
    }
}

impl std::error::Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(elapsed: Elapsed) -> io::Error {
        io::Error::new(io::ErrorKind::TimedOut, elapsed)
    }
}
