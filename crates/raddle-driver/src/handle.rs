//! A counted reference to a source's mechanics, without the duties of its owner.
//!
//! [`Source`](crate::Source) owns a socket: dropping it hangs up. Operations in flight need the
//! descriptor too, but must not keep the connection alive for the peer: they hold a handle.

use crate::addr::RawAddr;
use crate::epoll::source::EpollSource;
use crate::interest::Direction;
use crate::shell::{Attempt, Shell};
use crate::sys::socket;
use crate::waiters::Seat;
use raddle_base::context;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// One of the two kinds of mechanics.
#[derive(Clone)]
pub struct Handle(pub(crate) Face);

/// A source of either backend.
#[derive(Clone)]
pub(crate) enum Face {
    Epoll(Arc<EpollSource>),
}

impl Handle {
    #[inline]
    pub(crate) fn shell(&self) -> &Shell {
        match &self.0 {
            Face::Epoll(source) => &source.shell,
        }
    }

    /// Repeats `attempt` until it does not block, waiting in between.
    #[inline]
    pub(crate) fn drive<T>(
        &self,
        direction: Direction,
        seat: Seat<'_>,
        cx: &mut Context<'_>,
        mut attempt: impl FnMut(&Handle) -> Attempt<T>,
    ) -> Poll<io::Result<T>> {
        ready!(context::check_budget(cx));
        loop {
            match attempt(self) {
                Attempt::Done(result) => {
                    context::spend();
                    return Poll::Ready(result);
                }
                Attempt::Blocked => ready!(self.poll_wait(direction, seat, cx))?,
            }
        }
    }

    #[inline]
    pub(crate) fn poll_wait(
        &self,
        direction: Direction,
        seat: Seat<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        match &self.0 {
            Face::Epoll(source) => source.poll_wait(direction, seat, cx),
        }
    }

    /// Any non-blocking call, if the direction may be ready.
    pub(crate) fn attempt<T>(
        &self,
        direction: Direction,
        call: impl FnOnce(&Shell) -> io::Result<T>,
    ) -> Attempt<T> {
        match &self.0 {
            Face::Epoll(source) => source.attempt(direction, call, |_| false),
        }
    }

    /// The caller has met "would block" by a call of its own.
    pub(crate) fn assume_blocked(&self, direction: Direction) {
        match &self.0 {
            Face::Epoll(source) => source.assume_blocked(direction),
        }
    }

    #[inline]
    pub(crate) fn attempt_read(&self, into: &mut [MaybeUninit<u8>]) -> Attempt<usize> {
        let room = into.len();
        match &self.0 {
            Face::Epoll(source) => source.attempt(
                Direction::Read,
                |shell| shell.read(into),
                |&count| 0 < count && count < room,
            ),
        }
    }

    pub(crate) fn attempt_read_vectored(&self, into: &mut [IoSliceMut<'_>]) -> Attempt<usize> {
        let room: usize = into.iter().map(|slice| slice.len()).sum();
        match &self.0 {
            Face::Epoll(source) => source.attempt(
                Direction::Read,
                |shell| shell.read_vectored(into),
                |&count| 0 < count && count < room,
            ),
        }
    }

    pub(crate) fn attempt_peek(&self, into: &mut [MaybeUninit<u8>]) -> Attempt<usize> {
        match &self.0 {
            Face::Epoll(source) => {
                source.attempt(Direction::Read, |shell| socket::peek(shell.fd(), into), |_| false)
            }
        }
    }

    #[inline]
    pub(crate) fn attempt_write(&self, from: &[u8]) -> Attempt<usize> {
        match &self.0 {
            Face::Epoll(source) => source.attempt(
                Direction::Write,
                |shell| shell.write(from),
                |&count| 0 < count && count < from.len(),
            ),
        }
    }

    pub(crate) fn attempt_write_vectored(&self, from: &[IoSlice<'_>]) -> Attempt<usize> {
        let all: usize = from.iter().map(|slice| slice.len()).sum();
        match &self.0 {
            Face::Epoll(source) => source.attempt(
                Direction::Write,
                |shell| shell.write_vectored(from),
                |&count| 0 < count && count < all,
            ),
        }
    }

    pub(crate) fn attempt_accept(&self) -> Attempt<(OwnedFd, RawAddr)> {
        match &self.0 {
            Face::Epoll(source) => source.attempt_accept(),
        }
    }

    /// Nobody waits for connections any more: takes none from the kernel until somebody does.
    pub(crate) fn stop_accepting(&self) {
        match &self.0 {
            Face::Epoll(_) => {}
        }
    }

    /// `Ready` when the direction may be tried.
    pub(crate) fn poll_ready(
        &self,
        direction: Direction,
        seat: Seat<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        match &self.0 {
            Face::Epoll(source) => source.poll_ready(direction, seat, cx),
        }
    }

    pub(crate) fn close(&self) {
        match &self.0 {
            Face::Epoll(source) => source.close(),
        }
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shell = self.shell();
        f.debug_struct("Handle").field("fd", &shell.raw()).field("kind", &shell.kind()).finish()
    }
}
