//! Sends that are given up when time is up, and give their value back.
//!
//! This crate knows no runtime, hence no timer that wakes a task: the async form takes the sleep
//! of whatever runtime there is. The blocking form needs none.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use super::error::{SendError, SendTimeoutError};
use super::mode::Lossless;
use super::place::Sending;
use super::sender::Sender;
use crate::wait_timeout;

impl<T> Sender<T, Lossless> {
    /// Sends a value, waiting for room until `time_is_up` is ready: any future, such as the sleep
    /// of a runtime. With room the value is sent even if time is up already.
    ///
    /// # Cancel safety
    ///
    /// As [`send`](Self::send).
    ///
    /// # Errors
    ///
    /// If time is up, or there is no receiver: the value comes back.
    #[track_caller]
    pub fn send_timeout<F: Future>(&self, value: T, time_is_up: F) -> SendTimeout<'_, T, F> {
        SendTimeout { sending: self.send(value), time_is_up }
    }

    /// Sends a value, blocking the thread for at most `limit` while there is no room. With room the
    /// value is sent even with a limit of zero.
    ///
    /// # Errors
    ///
    /// As [`send_timeout`](Self::send_timeout).
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_send_timeout(
        &self,
        value: T,
        limit: Duration,
    ) -> Result<usize, SendTimeoutError<T>> {
        let mut sending = pin!(self.send(value));
        match wait_timeout(sending.as_mut(), limit) {
            Some(result) => result.map_err(closed),
            None => Err(timeout(sending.as_ref())),
        }
    }
}

fn closed<T>(error: SendError<T>) -> SendTimeoutError<T> {
    SendTimeoutError::Closed(error.0)
}

fn timeout<T>(sending: Pin<&Sending<'_, T>>) -> SendTimeoutError<T> {
    let value = sending.give_up();
    SendTimeoutError::Timeout(value.expect("a send that is not ready has its value"))
}

/// The future of [`Sender::send_timeout`].
#[must_use = "futures do nothing unless awaited"]
pub struct SendTimeout<'a, T, F> {
    sending: Sending<'a, T>,
    time_is_up: F,
}

impl<T, F: Future> Future for SendTimeout<'_, T, F> {
    type Output = Result<usize, SendTimeoutError<T>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: both fields are pinned with the whole: neither is moved out of it, there is no
        // destructor, and it is `Unpin` only if both are.
        let (mut sending, time_is_up) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.sending), Pin::new_unchecked(&mut this.time_is_up))
        };
        if let Poll::Ready(result) = sending.as_mut().poll(cx) {
            return Poll::Ready(result.map_err(closed));
        }
        time_is_up.poll(cx).map(|_| Err(timeout(sending.as_ref())))
    }
}

impl<T, F> fmt::Debug for SendTimeout<'_, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SendTimeout").field(&self.sending).finish()
    }
}
