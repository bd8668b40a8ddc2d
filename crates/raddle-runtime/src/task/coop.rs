//! The budget of a poll, for user's code: spending it, and going without it.
//!
//! A task may take 128 steps in one poll, where a step is anything of raddle's that is ready: a
//! receive, a lock, a read. Then each of them gives way once, so that a task with much to do
//! does not keep the others waiting. Loops that take no such step can spend the budget themselves.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_base::context;

/// Spends one step of the task's budget, and gives way if there is none left: for loops that
/// compute or use foreign futures, in place of a [`yield_now`](crate::task::yield_now) each time.
///
/// Outside of a raddle task it is ready at once.
///
/// # Cancel safety
///
/// Dropping the future has no effect.
pub async fn consume_budget() {
    poll_fn(context::step).await;
}

/// Runs `future` without a budget: nothing of raddle's in it gives way. Other tasks of the worker
/// wait until it is pending by itself, and it never is if there is always something for it to do.
pub fn unconstrained<F: Future>(future: F) -> Unconstrained<F> {
    Unconstrained { future }
}

/// The future of [`unconstrained`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Unconstrained<F> {
    future: F,
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the only field is pinned with the whole, which has no destructor of its own.
        let future = unsafe { self.map_unchecked_mut(|this| &mut this.future) };
        let _unlimited = context::enter(context::place());
        future.poll(cx)
    }
}
