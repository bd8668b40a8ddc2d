//! A channel for one value, lock-free, in one allocation.
//!
//! Who owns what, and when, is in `oneshot/shared.rs`, which holds the whole protocol; here are
//! the two handles.
//!
//! ```
//! use raddle_sync::{block_on, oneshot};
//!
//! let (tx, rx) = oneshot::channel();
//! std::thread::spawn(move || tx.send("done"));
//! assert_eq!(block_on(rx), Ok("done"));
//! ```

mod shared;

/// What can go wrong, under the path where tokio has it.
pub mod error {
    pub use super::{RecvError, TryRecvError};
}

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::context;

use crate::{block_on, wait_timeout};
use shared::{Closing, Shared, Word};

/// Makes a channel for one value. This is its only allocation.
///
/// Dumps tell this call's place of whoever waits on either half.
#[inline]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Shared::allocate(Location::caller());
    (Sender { shared }, Receiver { shared: Some(shared) })
}

/// The half that sends. Dropping it tells the receiver that no value will come.
pub struct Sender<T> {
    shared: NonNull<Shared<T>>,
}

// SAFETY: the protocol in `shared.rs` gives every cell one owner at a time; the value crosses.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: as above; a shared sender can only ask whether the channel is closed.
unsafe impl<T: Send> Sync for Sender<T> {}

impl<T> Sender<T> {
    fn shared(&self) -> &Shared<T> {
        // SAFETY: alive until this half has finished, which consumes it.
        unsafe { self.shared.as_ref() }
    }

    /// Sends the value, without waiting.
    ///
    /// What happened before is visible to who receives it. Success means that the value became the
    /// receiver's; if the receiver is dropped without taking it, it drops the value.
    ///
    /// # Errors
    ///
    /// If the receiver is closed or gone: the value comes back.
    #[inline]
    pub fn send(self, value: T) -> Result<(), T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: this half is used up.
        match unsafe { Shared::finish(this.shared, Some(value)) } {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// Waits until the receiver is closed or dropped: to stop work nobody waits for.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub fn closed(&mut self) -> Closed<'_, T> {
        Closed { sender: self }
    }

    /// As [`closed`](Self::closed), blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_closed(&mut self) {
        block_on(self.closed());
    }

    /// As [`closed`](Self::closed), blocking the thread for at most `limit`; whether it came true.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_closed_timeout(&mut self, limit: Duration) -> bool {
        wait_timeout(self.closed(), limit).is_some()
    }

    /// The poll form of [`closed`](Self::closed).
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        ready!(context::check_budget(cx));
        // SAFETY: this is the sender, and it has not finished.
        ready!(unsafe { self.shared().poll_closed(cx) });
        context::spend();
        Poll::Ready(())
    }

    /// Whether the receiver is closed or gone.
    pub fn is_closed(&self) -> bool {
        self.shared().is_closed()
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // SAFETY: this half is used up.
        unsafe { Shared::finish(self.shared, None) };
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("closed", &self.is_closed()).finish()
    }
}

/// The future of [`Sender::closed`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Closed<'a, T> {
    sender: &'a mut Sender<T>,
}

impl<T> Future for Closed<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.sender.poll_closed(cx)
    }
}

/// The half that receives: a future of the value.
///
/// # Cancel safety
///
/// The future can be polled through `&mut`, and dropped or left at any time; a value that was
/// sent stays until it is taken, or is dropped with the receiver.
///
/// # Panics
///
/// When polled again after it gave its output.
#[must_use = "futures do nothing unless awaited"]
pub struct Receiver<T> {
    /// `None` once the outcome was given.
    shared: Option<NonNull<Shared<T>>>,
}

// SAFETY: as for the sender.
unsafe impl<T: Send> Send for Receiver<T> {}
// SAFETY: as above; a shared receiver can only ask for the state.
unsafe impl<T: Send> Sync for Receiver<T> {}

impl<T> Receiver<T> {
    fn shared(&self) -> Option<&Shared<T>> {
        // SAFETY: alive until this half releases it, which sets the field to `None`.
        self.shared.map(|shared| unsafe { &*shared.as_ptr() })
    }

    /// Takes no value that was not sent yet, and tells the sender. A value that was sent can still
    /// be received.
    pub fn close(&mut self) {
        if let Some(closing) = self.begin_close() {
            closing.wake();
        }
    }

    /// Closes, and leaves the waking to the caller.
    fn begin_close(&mut self) -> Option<Closing> {
        let shared = self.shared().filter(|shared| !shared.is_closed())?;
        // SAFETY: this is the receiver, and has not closed.
        unsafe { shared.close() }
    }

    /// Takes the value if it was sent.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`] if it was not sent yet; [`TryRecvError::Closed`] if none will come,
    /// or it was taken before.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let Some(shared) = self.shared() else { return Err(TryRecvError::Closed) };
        let word = shared.load();
        if word.is_closed() {
            return Err(TryRecvError::Closed);
        }
        if !word.is_finished() {
            return Err(TryRecvError::Empty);
        }
        self.finish(word).map_err(|_| TryRecvError::Closed)
    }

    /// Waits for the value by blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        block_on(self)
    }

    /// Waits for the value by blocking the thread for at most `limit`. A value that is there is
    /// received even with a limit of zero; one that comes later can still be received.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`] if nothing was sent in time; [`TryRecvError::Closed`] if none will
    /// come.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task, and if the outcome was given before.
    #[track_caller]
    pub fn blocking_recv_timeout(&mut self, limit: Duration) -> Result<T, TryRecvError> {
        match wait_timeout(&mut *self, limit) {
            Some(result) => result.map_err(|_| TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Whether there is no value to take now: not sent yet, or none will come.
    pub fn is_empty(&self) -> bool {
        self.shared().is_none_or(|shared| !shared.has_value())
    }

    /// Whether the outcome was given already, so that polling again would panic.
    pub fn is_terminated(&self) -> bool {
        self.shared.is_none()
    }

    /// The sender has finished, or this half closed first: takes the outcome and lets go. The word
    /// was loaded after that.
    fn finish(&mut self, word: Word) -> Result<T, RecvError> {
        let shared = self.shared.take().expect("a oneshot receiver was polled after its outcome");
        // SAFETY: `word` says so, and this is done once.
        let value = unsafe { shared.as_ref().take_value(word) };
        // SAFETY: this half owns nothing in there any more.
        unsafe { Shared::release(shared, word) };
        value.ok_or(RecvError(()))
    }

    /// The poll of a receiver whose outcome is not there, or that has closed.
    #[inline(never)]
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        ready!(context::check_budget(cx));
        let shared = self.shared().expect("a oneshot receiver was polled after its outcome");
        if !shared.is_closed() {
            // SAFETY: this is the receiver, which has not closed.
            ready!(unsafe { shared.poll_finished(cx) });
        }
        let word = shared.load();
        context::spend();
        Poll::Ready(self.finish(word))
    }

    /// The outcome was not given.
    #[inline(never)]
    fn drop_open(&mut self) {
        let Some(shared) = self.shared() else { return };
        let closing = if shared.load().is_finished() { None } else { self.begin_close() };
        let Some(shared) = self.shared() else { return };
        let value = self.finish(shared.load());
        // Foreign code, with nothing left to do: the sender's waker, then a value that was sent
        // and not taken.
        if let Some(closing) = closing {
            closing.wake();
        }
        drop(value);
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(shared) = self.shared
            // SAFETY: alive until this half lets go of it, which sets the field to `None`.
            && unsafe { shared.as_ref() }.load().is_settled()
        {
            ready!(context::step(cx));
            self.shared = None;
            // SAFETY: the word is settled, and this half forgets it.
            return Poll::Ready(Ok(unsafe { Shared::settle(shared) }));
        }
        self.poll_open(cx)
    }
}

impl<T> Drop for Receiver<T> {
    #[inline]
    fn drop(&mut self) {
        if self.shared.is_some() {
            self.drop_open();
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.shared() {
            None => "terminated",
            Some(shared) if shared.is_closed() => "closed",
            Some(shared) if shared.load().is_finished() => "finished",
            Some(_) => "open",
        };
        f.debug_tuple("Receiver").field(&state).finish()
    }
}

/// The sender was dropped without sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecvError(());

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the sender was dropped without sending")
    }
}

impl Error for RecvError {}

/// Why [`Receiver::try_recv`] gave no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// Nothing was sent yet.
    Empty,
    /// Nothing will come, or the value was taken.
    Closed,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryRecvError::Empty => "nothing was sent yet",
            TryRecvError::Closed => "nothing will be sent",
        })
    }
}

impl Error for TryRecvError {}

#[cfg(all(test, loom))]
#[path = "tests/oneshot_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/oneshot.rs"]
mod tests;
