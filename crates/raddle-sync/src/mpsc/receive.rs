//! The receiving end, the same for channels with and without a bound.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use raddle_base::context;
use raddle_base::shim::Arc;

use super::chan::{Chan, Found};
use super::chunks::Draining;
use super::error::TryRecvError;

/// The receiving end. `Receiver` and `UnboundedReceiver` are faces of it.
pub(super) struct Rx<T> {
    pub(super) chan: Arc<Chan<T>>,
    /// Blocks taken from the list, emptied without the lock.
    mine: Draining<T>,
}

// SAFETY: a shared reference to the receiving end gives counts, and no access to values.
unsafe impl<T: Send> Sync for Rx<T> {}

/// What a look for values gave.
enum Next<T> {
    Value(T),
    Nothing,
    Awaited,
    End,
}

impl<T> Rx<T> {
    pub(super) fn new(chan: Arc<Chan<T>>) -> Self {
        Rx { chan, mine: Draining::new() }
    }

    /// The next value in hand, or else of the list.
    #[inline]
    fn next(&mut self, who: Option<&Waker>) -> Next<T> {
        match self.mine.pop() {
            Some(value) => Next::Value(value),
            None => {
                let found = self.chan.look(&mut self.mine, who);
                self.accept(found)
            }
        }
    }

    fn accept(&mut self, found: Found) -> Next<T> {
        match found {
            Found::Nothing => Next::Nothing,
            Found::Awaited => Next::Awaited,
            Found::End => Next::End,
            Found::Values => match self.mine.pop() {
                Some(value) => Next::Value(value),
                None => Next::Nothing,
            },
        }
    }

    /// As [`next`](Self::next), but makes sure that the task is woken if there is nothing.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let next = match self.next(Some(cx.waker())) {
            Next::Nothing => {
                let found = self.chan.look_or_wait(&mut self.mine, cx);
                self.accept(found)
            }
            other => other,
        };
        match next {
            Next::Nothing | Next::Awaited => Poll::Pending,
            Next::Value(value) => Poll::Ready(Some(value)),
            Next::End => Poll::Ready(None),
        }
    }

    /// The places of `count` received values are free again.
    fn received(&self, count: usize) {
        if self.chan.is_bounded() {
            self.chan.permits.release(count);
        }
    }

    pub(super) fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        ready!(context::check_budget(cx));
        let value = ready!(self.poll_next(cx));
        if value.is_some() {
            self.received(1);
        }
        context::spend();
        Poll::Ready(value)
    }

    pub(super) fn poll_recv_many(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Poll<usize> {
        if limit == 0 {
            return Poll::Ready(0);
        }
        ready!(context::check_budget(cx));
        let Some(first) = ready!(self.poll_next(cx)) else { return Poll::Ready(0) };
        buffer.push(first);
        let mut count = 1;
        while count < limit
            && let Next::Value(value) = self.next(None)
        {
            buffer.push(value);
            count += 1;
        }
        self.received(count);
        context::spend();
        Poll::Ready(count)
    }

    pub(super) fn try_recv(&mut self) -> Result<T, TryRecvError> {
        match self.next(None) {
            Next::Nothing | Next::Awaited => Err(TryRecvError::Empty),
            Next::End => Err(TryRecvError::Disconnected),
            Next::Value(value) => {
                self.received(1);
                Ok(value)
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.mine.len() + self.chan.len()
    }

    /// Closed by this end, or by the last sender.
    pub(super) fn is_closed(&self) -> bool {
        self.chan.is_closed() || self.chan.sender_counts().0 == 0
    }
}

impl<T> Drop for Rx<T> {
    fn drop(&mut self) {
        // Wakes the senders first; then the values go, in the list and (as a field) in hand.
        drop(self.chan.close(true));
    }
}

impl<T> fmt::Debug for Rx<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("len", &self.len())
            .field("ended", &(self.mine.len() == 0 && self.chan.is_at_end()))
            .finish()
    }
}

/// The future of `recv`.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Recv<'a, T> {
    pub(super) rx: &'a mut Rx<T>,
}

impl<T> Future for Recv<'_, T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.rx.poll_recv(cx)
    }
}

/// The future of `recv_many`.
#[must_use = "futures do nothing unless awaited"]
pub struct RecvMany<'a, T> {
    pub(super) rx: &'a mut Rx<T>,
    pub(super) buffer: &'a mut Vec<T>,
    pub(super) limit: usize,
}

impl<T> Future for RecvMany<'_, T> {
    type Output = usize;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        let this = &mut *self;
        this.rx.poll_recv_many(cx, this.buffer, this.limit)
    }
}

impl<T> fmt::Debug for RecvMany<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvMany").field("rx", self.rx).field("limit", &self.limit).finish()
    }
}
