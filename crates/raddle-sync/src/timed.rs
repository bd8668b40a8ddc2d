//! Sends that are given up when time is up, and give their value back.
//!
//! This crate knows no runtime, hence no timer that wakes a task: the async form takes the sleep
//! of whatever runtime there is. The blocking form needs none.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use crate::wait_timeout;

/// A send that can be given up.
pub(crate) trait GiveUp: Future {
    /// The outcome, with time among the reasons.
    type Timed;

    /// It was over in time.
    fn in_time(output: Self::Output) -> Self::Timed;

    /// Time is up: takes the value back if it was not sent. Not to be polled after this.
    fn give_up(self: Pin<&mut Self>) -> Self::Timed;
}

/// Blocks the thread for at most `limit`.
#[track_caller]
pub(crate) fn within<S: GiveUp>(sending: S, limit: Duration) -> S::Timed {
    let mut sending = pin!(sending);
    match wait_timeout(sending.as_mut(), limit) {
        Some(output) => S::in_time(output),
        None => sending.give_up(),
    }
}

/// A send until another future is ready.
pub(crate) struct UntilTime<S, F> {
    sending: S,
    time_is_up: F,
}

impl<S: GiveUp, F: Future> UntilTime<S, F> {
    pub(crate) fn new(sending: S, time_is_up: F) -> Self {
        UntilTime { sending, time_is_up }
    }
}

impl<S: GiveUp, F: Future> Future for UntilTime<S, F> {
    type Output = S::Timed;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<S::Timed> {
        // SAFETY: both fields are pinned with the whole: neither is moved out of it, there is no
        // destructor, and it is `Unpin` only if both are.
        let (mut sending, time_is_up) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.sending), Pin::new_unchecked(&mut this.time_is_up))
        };
        if let Poll::Ready(output) = sending.as_mut().poll(cx) {
            return Poll::Ready(S::in_time(output));
        }
        ready!(time_is_up.poll(cx));
        Poll::Ready(sending.give_up())
    }
}

impl<S: fmt::Debug, F> fmt::Debug for UntilTime<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UntilTime").field(&self.sending).finish()
    }
}

/// Writes the public name of a timed send.
macro_rules! named_send_timeout {
    ($(#[$meta:meta])* $output:ty) => {
        $(#[$meta])*
        #[must_use = "futures do nothing unless awaited"]
        pub struct SendTimeout<'a, T, F>(crate::timed::UntilTime<Sending<'a, T>, F>);

        impl<T, F: std::future::Future> std::future::Future for SendTimeout<'_, T, F> {
            type Output = $output;

            fn poll(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Self::Output> {
                // SAFETY: the only field is pinned with the whole, and not moved out of it.
                unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
            }
        }

        impl<T, F> std::fmt::Debug for SendTimeout<'_, T, F> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple("SendTimeout").field(&self.0).finish()
            }
        }
    };
}

pub(crate) use named_send_timeout;
