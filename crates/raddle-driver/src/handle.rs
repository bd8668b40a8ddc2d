//! A counted reference to a source's mechanics, without the duties of its owner.
//!
//! [`Source`](crate::Source) owns a socket: dropping it hangs up. Operations in flight need the
//! descriptor too, but must not keep the connection alive for the peer: they hold a handle.

use crate::addr::RawAddr;
use crate::epoll::source::EpollSource;
use crate::interest::Direction;
use crate::shell::{Attempt, Shell};
use crate::sys::socket;
use crate::uring::source::UringSource;
use crate::waiters::{Left, Seat, WaitSlot};
use raddle_base::context;
use std::cell::RefCell;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// One of the two kinds of mechanics.
#[derive(Clone)]
pub struct Handle(pub(crate) Face);

/// A source of either backend.
#[derive(Clone)]
pub(crate) enum Face {
    Epoll(Arc<EpollSource>),
    Uring(Arc<UringSource>),
}

impl Handle {
    #[inline]
    pub(crate) fn shell(&self) -> &Shell {
        match &self.0 {
            Face::Epoll(source) => &source.shell,
            Face::Uring(source) => &source.shell,
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
            Face::Uring(source) => source.poll_wait(direction, seat, cx),
        }
    }

    /// The caller's future has ended, however it did; true if it had waited.
    #[inline]
    pub(crate) fn leave(&self, slot: Pin<&WaitSlot>) -> bool {
        let left = self.shell().waiters.leave(slot);
        if let (Left::Last, Face::Epoll(source)) = (left, &self.0) {
            source.left();
        }
        left != Left::Nothing
    }

    /// Any non-blocking call, if the direction may be ready.
    pub(crate) fn attempt<T>(
        &self,
        direction: Direction,
        call: impl FnOnce(&Shell) -> io::Result<T>,
    ) -> Attempt<T> {
        match &self.0 {
            Face::Epoll(source) => source.attempt(direction, call, |_| false),
            Face::Uring(source) => source.attempt(direction, call),
        }
    }

    /// The caller has met "would block" by a call of its own.
    pub(crate) fn assume_blocked(&self, direction: Direction) {
        match &self.0 {
            Face::Epoll(source) => source.assume_blocked(direction),
            Face::Uring(source) => source.assume_blocked(direction),
        }
    }

    /// Blocks further attempts to connect for a while.
    pub(crate) fn try_again_after(&self, time: Duration) -> io::Result<()> {
        match &self.0 {
            Face::Epoll(source) => source.try_again_after(time),
            Face::Uring(source) => source.try_again_after(time),
        }
    }

    /// Whether such a while is not over.
    pub(crate) fn is_pausing(&self) -> bool {
        match &self.0 {
            Face::Epoll(source) => source.is_pausing(),
            Face::Uring(source) => source.is_pausing(),
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
            Face::Uring(source) => {
                let into = RefCell::new(into);
                source.attempt_stream(
                    |held| held.take(&mut into.borrow_mut()),
                    |shell| shell.read(&mut into.borrow_mut()),
                    |&count| 0 < count && count < room,
                )
            }
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
            Face::Uring(source) => {
                let into = RefCell::new(into);
                source.attempt_stream(
                    |held| held.take_vectored(&mut into.borrow_mut()),
                    |shell| shell.read_vectored(&mut into.borrow_mut()),
                    |&count| 0 < count && count < room,
                )
            }
        }
    }

    pub(crate) fn attempt_peek(&self, into: &mut [MaybeUninit<u8>]) -> Attempt<usize> {
        match &self.0 {
            Face::Epoll(source) => {
                source.attempt(Direction::Read, |shell| socket::peek(shell.fd(), into), |_| false)
            }
            Face::Uring(source) => {
                let into = RefCell::new(into);
                source.attempt_stream(
                    |held| held.peek(&mut into.borrow_mut()),
                    |shell| socket::peek(shell.fd(), &mut into.borrow_mut()),
                    |_| false,
                )
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
            Face::Uring(source) => source.attempt_write(&[IoSlice::new(from)]),
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
            Face::Uring(source) => source.attempt_write(from),
        }
    }

    pub(crate) fn attempt_accept(&self) -> Attempt<(OwnedFd, RawAddr)> {
        match &self.0 {
            Face::Epoll(source) => source.attempt_accept(),
            Face::Uring(source) => source.attempt_accept(),
        }
    }

    /// Nobody waits for connections any more: takes none from the kernel until somebody does.
    pub(crate) fn stop_accepting(&self) {
        match &self.0 {
            Face::Epoll(_) => {}
            Face::Uring(source) => source.stop_accepting(),
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
            Face::Uring(source) => source.poll_ready(direction, seat, cx),
        }
    }

    /// `Ready` when the driver makes no use of the descriptor.
    pub(crate) fn poll_unused(&self, cx: &mut Context<'_>) -> Poll<()> {
        match &self.0 {
            // A registration is given up without waiting.
            Face::Epoll(_) => Poll::Ready(()),
            Face::Uring(source) => source.poll_unused(cx),
        }
    }

    /// Ends directions of the connection, after what was written.
    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match &self.0 {
            Face::Epoll(source) => socket::shutdown(source.shell.fd(), how),
            Face::Uring(source) => source.shutdown(how),
        }
    }

    /// Whether a request that sends would overtake nothing.
    pub(crate) fn may_send_by_ring(&self) -> bool {
        match &self.0 {
            Face::Epoll(_) => false,
            Face::Uring(source) => source.may_send_by_ring(),
        }
    }

    pub(crate) fn close(&self) {
        match &self.0 {
            Face::Epoll(source) => source.close(),
            Face::Uring(source) => source.close(),
        }
    }

    /// The owner is gone.
    pub(crate) fn abandon(self) {
        match self.0 {
            Face::Epoll(source) => source.abandon(),
            Face::Uring(source) => source.abandon(),
        }
    }

    /// The next attempt asks the kernel, whatever is assumed: for callers that do not wait.
    pub(crate) fn assume_nothing(&self) {
        match &self.0 {
            Face::Epoll(source) => source.assume_nothing(),
            Face::Uring(source) => source.assume_nothing(),
        }
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shell = self.shell();
        f.debug_struct("Handle").field("fd", &shell.raw()).field("kind", &shell.kind()).finish()
    }
}
