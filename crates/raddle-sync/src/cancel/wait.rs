//! Waiting for cancellation, alone or beside another future.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::wait::{WaitKind, Waiter};

use super::node::{Node, NodeRef};

/// The future of [`CancellationToken::cancelled`](super::CancellationToken::cancelled).
#[must_use = "futures do nothing unless awaited"]
pub struct Cancelled<'a> {
    token: &'a Node,
    waiter: Waiter,
}

impl<'a> Cancelled<'a> {
    #[track_caller]
    pub(super) fn new(token: &'a NodeRef) -> Self {
        Cancelled { token, waiter: Waiter::new(WaitKind::Cancellation, ()) }
    }
}

impl Future for Cancelled<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        ready!(context::check_budget(cx));
        let this = self.into_ref().get_ref();
        // SAFETY: the waiter is pinned with the future that owns it, and leaves when that drops.
        ready!(unsafe { this.token.poll(Pin::new_unchecked(&this.waiter), cx) });
        context::spend();
        Poll::Ready(())
    }
}

impl Drop for Cancelled<'_> {
    fn drop(&mut self) {
        // SAFETY: as in `poll`; a future that was polled was pinned and did not move since.
        unsafe { self.token.leave(Pin::new_unchecked(&self.waiter)) };
    }
}

impl fmt::Debug for Cancelled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancelled").field("waiter", &self.waiter).finish()
    }
}

/// The future of [`CancellationToken::cancelled_owned`](super::CancellationToken::cancelled_owned).
#[must_use = "futures do nothing unless awaited"]
pub struct CancelledOwned {
    token: NodeRef,
    waiter: Waiter,
}

impl CancelledOwned {
    #[track_caller]
    pub(super) fn new(token: NodeRef) -> Self {
        CancelledOwned { token, waiter: Waiter::new(WaitKind::Cancellation, ()) }
    }
}

impl Future for CancelledOwned {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        ready!(context::check_budget(cx));
        let this = self.into_ref().get_ref();
        // SAFETY: as for `Cancelled`.
        ready!(unsafe { this.token.poll(Pin::new_unchecked(&this.waiter), cx) });
        context::spend();
        Poll::Ready(())
    }
}

impl Drop for CancelledOwned {
    fn drop(&mut self) {
        // SAFETY: as for `Cancelled`.
        unsafe { self.token.leave(Pin::new_unchecked(&self.waiter)) };
    }
}

impl fmt::Debug for CancelledOwned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelledOwned").field("waiter", &self.waiter).finish()
    }
}

/// The future of [`CancelExt::cancel_on`](super::CancelExt::cancel_on).
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct CancelOn<'a, F> {
    future: F,
    cancelled: Cancelled<'a>,
    begun: bool,
}

impl<'a, F> CancelOn<'a, F> {
    #[track_caller]
    pub(super) fn new(future: F, token: &'a NodeRef) -> Self {
        CancelOn { future, cancelled: Cancelled::new(token), begun: false }
    }
}

impl<F: Future> Future for CancelOn<'_, F> {
    type Output = Result<F::Output, CancelError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `future` and `cancelled` are pinned with the whole, and not moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        if !this.begun {
            this.begun = true;
            if this.cancelled.token.is_cancelled() {
                // The future was never polled: whatever it waits for is untouched.
                return Poll::Ready(Err(CancelError(())));
            }
        }
        // SAFETY: as above.
        let (future, cancelled) = unsafe {
            (Pin::new_unchecked(&mut this.future), Pin::new_unchecked(&mut this.cancelled))
        };
        // The future first: what was completed before the cancellation is not thrown away.
        match future.poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => cancelled.poll(cx).map(|()| Err(CancelError(()))),
        }
    }
}

/// The future of
/// [`CancellationToken::run_until_cancelled`](super::CancellationToken::run_until_cancelled).
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct RunUntilCancelled<'a, F>(CancelOn<'a, F>);

impl<'a, F> RunUntilCancelled<'a, F> {
    #[track_caller]
    pub(super) fn new(future: F, token: &'a NodeRef) -> Self {
        RunUntilCancelled(CancelOn::new(future, token))
    }
}

impl<F: Future> Future for RunUntilCancelled<'_, F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the only field is pinned with the whole, and not moved out of it.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx).map(Result::ok)
    }
}

/// The token was cancelled before the future was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancelError(());

impl fmt::Display for CancelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operation was cancelled")
    }
}

impl Error for CancelError {}
