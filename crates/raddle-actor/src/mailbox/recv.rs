//! Receiving from a mailbox as futures.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::receive::Mailbox;
use super::search::Search;

impl<M> Mailbox<M> {
    /// Waits for the next message; `None` as by [`poll_recv`](Self::poll_recv).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub fn recv(&mut self) -> Recv<'_, M> {
        Recv { mailbox: self }
    }

    /// Waits for the first message that `wanted` says true of; the others stay, in their order.
    /// Each message is looked at once. More in [`poll_recv_where`](Self::poll_recv_where).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub fn recv_where<F: FnMut(&M) -> bool>(&mut self, wanted: F) -> RecvWhere<'_, M, F> {
        RecvWhere { mailbox: self, search: Search::new(), wanted }
    }
}

/// The future of [`Mailbox::recv`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Recv<'a, M> {
    mailbox: &'a mut Mailbox<M>,
}

impl<M> Future for Recv<'_, M> {
    type Output = Option<M>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<M>> {
        self.mailbox.poll_recv(cx)
    }
}

/// The future of [`Mailbox::recv_where`].
#[must_use = "futures do nothing unless awaited"]
pub struct RecvWhere<'a, M, F> {
    mailbox: &'a mut Mailbox<M>,
    search: Search,
    wanted: F,
}

impl<M, F> Unpin for RecvWhere<'_, M, F> {}

impl<M, F: FnMut(&M) -> bool> Future for RecvWhere<'_, M, F> {
    type Output = Option<M>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<M>> {
        let this = &mut *self;
        this.mailbox.poll_recv_where(&mut this.search, &mut this.wanted, cx)
    }
}

impl<M, F> fmt::Debug for RecvWhere<'_, M, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvWhere").field("search", &self.search).finish_non_exhaustive()
    }
}
