//! What the macros expand to.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use std::future::{IntoFuture, poll_fn};
pub use std::pin::pin;

pub use raddle_base::context::{check_budget, spend};
pub use raddle_base::random::thread_below;

/// How many there are.
#[inline]
pub const fn count(places: &[()]) -> u32 {
    places.len() as u32
}

/// In which order branches are polled, and where it was broken off.
#[derive(Debug)]
pub struct Turn {
    count: u32,
    resume: Option<u32>,
}

impl Turn {
    /// A turn over `count` branches.
    #[inline]
    pub const fn new(count: u32) -> Self {
        Turn { count, resume: None }
    }

    /// Polls branches by number, each at most once, beginning with `first` or where the last call
    /// was broken off for want of budget. Ends with the first one that gives something.
    ///
    /// `None` if the task is to be polled again, or `branch` gave nothing for all of them.
    #[inline]
    pub fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        first: impl FnOnce(u32) -> u32,
        mut branch: impl FnMut(u32, &mut Context<'_>) -> Option<T>,
    ) -> Option<T> {
        let mut number = match self.resume.take() {
            Some(number) => number,
            None => first(self.count),
        };
        for _ in 0..self.count {
            if check_budget(cx).is_pending() {
                self.resume = Some(number);
                return None;
            }
            if let Some(output) = branch(number, cx) {
                spend();
                return Some(output);
            }
            number = if number + 1 == self.count { 0 } else { number + 1 };
        }
        None
    }
}

/// A future, then its output until it is taken.
#[derive(Debug)]
pub enum MaybeDone<F: Future> {
    /// Not ready yet.
    Future(F),
    /// Ready.
    Done(F::Output),
    /// The output was taken.
    Gone,
}

impl<F: Future> MaybeDone<F> {
    /// Polls the future if it is not done; true if it is done now.
    #[inline]
    pub fn poll_done(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> bool {
        // SAFETY: the future is polled in place and, by `set`, dropped in place.
        let output = match unsafe { self.as_mut().get_unchecked_mut() } {
            MaybeDone::Future(future) => {
                // SAFETY: as above: a structurally pinned field.
                match unsafe { Pin::new_unchecked(future) }.poll(cx) {
                    Poll::Ready(output) => output,
                    Poll::Pending => return false,
                }
            }
            MaybeDone::Done(_) | MaybeDone::Gone => return true,
        };
        self.set(MaybeDone::Done(output));
        true
    }

    /// Takes the output of a future that is done.
    #[inline]
    pub fn take(mut self: Pin<&mut Self>) -> F::Output {
        // SAFETY: only an output, which is not pinned, is moved out; the future was dropped.
        match unsafe { self.as_mut().get_unchecked_mut() } {
            this @ MaybeDone::Done(_) => match std::mem::replace(this, MaybeDone::Gone) {
                MaybeDone::Done(output) => output,
                MaybeDone::Future(_) | MaybeDone::Gone => unreachable!("just looked at"),
            },
            MaybeDone::Future(_) | MaybeDone::Gone => unreachable!("taken once, when all are done"),
        }
    }
}

impl<T, E, F: Future<Output = Result<T, E>>> MaybeDone<F> {
    /// Takes the error of a future that is done with one.
    #[inline]
    pub fn take_error(mut self: Pin<&mut Self>) -> Option<E> {
        // SAFETY: as in `take`.
        let this = unsafe { self.as_mut().get_unchecked_mut() };
        if !matches!(this, MaybeDone::Done(Err(_))) {
            return None;
        }
        match std::mem::replace(this, MaybeDone::Gone) {
            MaybeDone::Done(Err(error)) => Some(error),
            _ => unreachable!("just looked at"),
        }
    }

    /// Takes the value of a future that is done with one.
    #[inline]
    pub fn take_ok(self: Pin<&mut Self>) -> T {
        match self.take() {
            Ok(value) => value,
            Err(_) => unreachable!("errors are taken as soon as they are there"),
        }
    }
}
