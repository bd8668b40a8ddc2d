//! Calls: a request that carries the way back for its answer.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_runtime::time::{Timeout, timeout};
use raddle_sync::oneshot;

use crate::mailbox::{SendError, Sending, Shared};

/// What comes back: the answer, or that whoever had the request fell to a panic, a kill or an exit.
type Answer<R> = Result<R, Fell>;

#[derive(Debug)]
struct Fell;

/// The way back for the answer to one call. Put it into the message.
///
/// Dropping it tells the caller that there will be no answer.
#[must_use = "somebody waits for the answer"]
pub struct Reply<R> {
    /// `None` once used.
    sender: Option<oneshot::Sender<Answer<R>>>,
}

impl<R> Reply<R> {
    /// Answers.
    ///
    /// # Errors
    ///
    /// If nobody waits any more: the answer comes back.
    pub fn reply(mut self, answer: R) -> Result<(), R> {
        let Some(sender) = self.sender.take() else { return Err(answer) };
        sender.send(Ok(answer)).map_err(|back| match back {
            Ok(answer) => answer,
            Err(Fell) => unreachable!("what was sent is what comes back"),
        })
    }

    /// Whether the caller has gone, so that the answer is not worth the work.
    pub fn is_abandoned(&self) -> bool {
        self.sender.as_ref().is_none_or(oneshot::Sender::is_closed)
    }
}

impl<R> Drop for Reply<R> {
    fn drop(&mut self) {
        // A handler that unwinds takes its process with it, in most cases: the caller is told that
        // it stopped. The caller finds out about orderly ends by itself.
        if std::thread::panicking()
            && let Some(sender) = self.sender.take()
        {
            drop(sender.send(Err(Fell)));
        }
    }
}

impl<R> fmt::Debug for Reply<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("abandoned", &self.is_abandoned()).finish()
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// The process has ended, or was started anew, before it answered.
    Stopped,
    /// No answer came in time. The process may still work on it.
    Timeout,
    /// The request was dropped without an answer.
    Dropped,
    /// There was no room for the request, and the mailbox does not let its senders wait.
    Full,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CallError::Stopped => "the process stopped before it answered",
            CallError::Timeout => "no answer came in time",
            CallError::Dropped => "the request was dropped without an answer",
            CallError::Full => "the mailbox is full",
        })
    }
}

impl Error for CallError {}

/// The future of [`Address::call`](crate::Address::call).
#[must_use = "futures do nothing unless awaited"]
pub struct Calling<'a, M, R> {
    shared: &'a Shared<M>,
    sending: Sending<'a, M>,
    answer: oneshot::Receiver<Answer<R>>,
    /// The word of the mailbox before the request was sent.
    word: u32,
    sent: bool,
}

impl<'a, M, R> Calling<'a, M, R> {
    #[track_caller]
    pub(crate) fn new(shared: &'a Shared<M>, make: impl FnOnce(Reply<R>) -> M) -> Self {
        let (sender, answer) = oneshot::channel();
        let message = make(Reply { sender: Some(sender) });
        let sending = Sending::new(shared, message, true);
        Calling { shared, sending, answer, word: shared.word(), sent: false }
    }

    fn poll_sent(
        sending: Pin<&mut Sending<'a, M>>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), CallError>> {
        Poll::Ready(match ready!(sending.poll(cx)) {
            Ok(()) => Ok(()),
            Err(SendError::Full(_)) => Err(CallError::Full),
            Err(SendError::Closed(_)) => Err(CallError::Stopped),
        })
    }
}

impl<M, R> Future for Calling<'_, M, R> {
    type Output = Result<R, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `sending` is pinned with the whole; the other fields move freely.
        let this = unsafe { self.get_unchecked_mut() };
        if !this.sent {
            // SAFETY: as above.
            let sending = unsafe { Pin::new_unchecked(&mut this.sending) };
            ready!(Self::poll_sent(sending, cx))?;
            this.sent = true;
        }
        Poll::Ready(match ready!(Pin::new(&mut this.answer).poll(cx)) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(Fell)) => Err(CallError::Stopped),
            // Another incarnation, or closed: whoever had the request is gone.
            Err(_) if this.shared.word() != this.word => Err(CallError::Stopped),
            Err(_) => Err(CallError::Dropped),
        })
    }
}

impl<M, R> fmt::Debug for Calling<'_, M, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calling").field("sent", &self.sent).finish_non_exhaustive()
    }
}

/// The future of [`Address::call_timeout`](crate::Address::call_timeout).
#[must_use = "futures do nothing unless awaited"]
pub struct CallFor<'a, M, R> {
    inner: Timeout<Calling<'a, M, R>>,
}

impl<'a, M, R> CallFor<'a, M, R> {
    #[track_caller]
    pub(crate) fn new(calling: Calling<'a, M, R>, limit: Duration) -> Self {
        CallFor { inner: timeout(limit, calling) }
    }
}

impl<M, R> Future for CallFor<'_, M, R> {
    type Output = Result<R, CallError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the only field is pinned with the whole.
        let inner = unsafe { self.map_unchecked_mut(|this| &mut this.inner) };
        Poll::Ready(ready!(inner.poll(cx)).unwrap_or(Err(CallError::Timeout)))
    }
}

impl<M, R> fmt::Debug for CallFor<'_, M, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFor").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
#[path = "tests/call.rs"]
mod tests;
