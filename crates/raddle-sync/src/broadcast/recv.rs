//! Waiting for a value, or for several.
//!
//! Each of these holds a node in the channel's line of receivers, and leaves it when dropped; a
//! wait that was released has nothing to hand on, since all were.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::context;
use raddle_base::wait::{WaitKind, Waiter};

use super::error::{RecvError, TryRecvError};
use super::shared::{Cursor, Shared, Wanted};

/// Receives a value, or waits for one.
///
/// # Safety
///
/// The caller owns `node`, uses it with this channel only, and leaves the line with it
/// before it goes away.
#[inline]
pub(super) unsafe fn poll_value<T: Clone>(
    shared: &Shared<T>,
    cursor: &mut Cursor<T>,
    node: Pin<&Waiter<Wanted>>,
    cx: &mut Context<'_>,
) -> Poll<Result<T, RecvError>> {
    ready!(context::check_budget(cx));
    // SAFETY: passed on from the caller.
    if unsafe { shared.is_queued(node, cx) } {
        return Poll::Pending;
    }
    loop {
        let result = match shared.try_recv(cursor) {
            Ok(value) => Ok(value),
            Err(TryRecvError::Closed) => Err(RecvError::Closed),
            Err(TryRecvError::Lagged(count)) => Err(RecvError::Lagged(count)),
            Err(TryRecvError::Empty) => {
                // SAFETY: passed on from the caller; the node is idle.
                if unsafe { shared.wait_for_value(cursor, node, cx.waker().clone()) } {
                    return Poll::Pending;
                }
                continue;
            }
        };
        context::spend();
        return Poll::Ready(result);
    }
}

/// The future of [`Receiver::recv`](super::Receiver::recv).
///
/// It contains the waiter's place in the line, so it must be pinned to be polled and cannot be
/// moved after:
///
/// ```compile_fail,E0277
/// fn movable<T: Unpin>(_: T) {}
/// let (_tx, mut rx) = raddle_sync::broadcast::channel::<u8>(1);
/// movable(rx.recv());
/// ```
#[must_use = "futures do nothing unless awaited"]
pub struct Recv<'a, T> {
    shared: &'a Shared<T>,
    cursor: &'a mut Cursor<T>,
    node: Waiter<Wanted>,
}

impl<'a, T> Recv<'a, T> {
    #[inline]
    #[track_caller]
    pub(super) fn new(shared: &'a Shared<T>, cursor: &'a mut Cursor<T>) -> Self {
        Recv { shared, cursor, node: Waiter::new(WaitKind::Value, 0) }
    }
}

impl<T: Clone> Future for Recv<'_, T> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the node is not moved out of it, and nothing else is pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: the node is pinned with the future, and leaves when that is dropped.
        unsafe { poll_value(this.shared, this.cursor, Pin::new_unchecked(&this.node), cx) }
    }
}

impl<T> Drop for Recv<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `poll`; what was polled was pinned and did not move since.
        unsafe { self.shared.leave_line(Pin::new_unchecked(&self.node), 0) };
    }
}

impl<T> fmt::Debug for Recv<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recv").field("waiter", &self.node).finish()
    }
}

/// The future of [`Receiver::recv_many`](super::Receiver::recv_many).
#[must_use = "futures do nothing unless awaited"]
pub struct RecvMany<'a, T> {
    first: Recv<'a, T>,
    buffer: &'a mut Vec<T>,
    limit: usize,
}

impl<'a, T> RecvMany<'a, T> {
    #[track_caller]
    pub(super) fn new(first: Recv<'a, T>, buffer: &'a mut Vec<T>, limit: usize) -> Self {
        RecvMany { first, buffer, limit }
    }
}

impl<T: Clone> Future for RecvMany<'_, T> {
    type Output = Result<usize, RecvError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `first` is pinned with the whole and not moved out of it; nothing else is.
        let this = unsafe { self.get_unchecked_mut() };
        if this.limit == 0 {
            return Poll::Ready(Ok(0));
        }
        // SAFETY: as above.
        let first = unsafe { Pin::new_unchecked(&mut this.first) };
        this.buffer.push(ready!(first.poll(cx))?);
        let mut count = 1;
        while count < this.limit {
            match this.first.shared.try_recv(this.first.cursor) {
                Ok(value) => this.buffer.push(value),
                // Told by the next receive.
                Err(TryRecvError::Lagged(missed)) => {
                    this.first.cursor.go_back(missed);
                    break;
                }
                Err(_) => break,
            }
            count += 1;
        }
        Poll::Ready(Ok(count))
    }
}

impl<T> fmt::Debug for RecvMany<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvMany").field("first", &self.first).field("limit", &self.limit).finish()
    }
}
