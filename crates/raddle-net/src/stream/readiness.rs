//! Waiting until a stream may be read or written, without doing it.

use super::Stream;
use crate::io::{Direction, Interest};
use crate::protocol::Protocol;
use crate::ready::{self, Ready};
use std::io;
use std::os::fd::BorrowedFd;
use std::task::{Context, Poll};

impl<P: Protocol> Stream<P> {
    /// Waits until a read may give something: data, the end of input, or an error. May be wrong
    /// now and then: a [`try_read`](Self::try_read) that follows may say `WouldBlock`.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> + Send {
        self.source().readable()
    }

    /// Waits until a write may give something. May be wrong now and then, as above.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> + Send {
        self.source().writable()
    }

    /// Waits until one of the directions in `interest` is ready.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    #[track_caller]
    pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> + Send {
        ready::ready(self.source(), interest)
    }

    /// `Ready` when a read may give something. Of the tasks that poll a direction, the latest is
    /// woken.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.source().poll_readable(cx)
    }

    /// `Ready` when a write may give something. Of the tasks that poll a direction, the latest
    /// is woken.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.source().poll_writable(cx)
    }

    /// Makes a non-blocking call of one's own on the descriptor, once, if the direction may be
    /// ready. Not for reading: received bytes may lie with the stream already, where a call of
    /// one's own does not see them.
    ///
    /// # Errors
    ///
    /// What the call gives; `WouldBlock` if the direction is known not to be ready.
    pub fn try_io<T>(
        &self,
        direction: Direction,
        call: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>,
    ) -> io::Result<T> {
        self.source().try_io(direction, call)
    }
}
