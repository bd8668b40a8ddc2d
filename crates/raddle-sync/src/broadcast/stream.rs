//! The values of a channel as a stream.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use raddle_base::wait::{WaitKind, Waiter};

use super::error::{Lagged, RecvError};
use super::mode::{Lagging, Mode};
use super::receiver::Receiver;
use super::recv::poll_value;
use super::shared::Wanted;

/// The values of a [`Receiver`] as a [`Stream`], with an error where some were missed. It ends when
/// all senders are gone and all values were received.
///
/// It contains a place in the channel's line of receivers, so it must be pinned to be polled.
pub struct BroadcastStream<T, M: Mode = Lagging> {
    receiver: Receiver<T, M>,
    node: Waiter<Wanted>,
}

impl<T, M: Mode> Receiver<T, M> {
    /// The values as a stream.
    #[track_caller]
    pub fn into_stream(self) -> BroadcastStream<T, M> {
        BroadcastStream { receiver: self, node: Waiter::new(WaitKind::Value, 0) }
    }
}

impl<T, M: Mode> BroadcastStream<T, M> {
    /// The receiver, for a look beside the stream.
    pub fn receiver(&self) -> &Receiver<T, M> {
        &self.receiver
    }
}

impl<T: Clone, M: Mode> Stream for BroadcastStream<T, M> {
    type Item = Result<T, Lagged>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<T, Lagged>>> {
        // SAFETY: the node is not moved out of it, and nothing else is pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: the node is pinned with the stream, and leaves when that is dropped.
        let polled = unsafe {
            poll_value(
                &this.receiver.shared,
                &mut this.receiver.cursor,
                Pin::new_unchecked(&this.node),
                cx,
            )
        };
        polled.map(|result| match result {
            Ok(value) => Some(Ok(value)),
            Err(RecvError::Lagged(count)) => Some(Err(Lagged(count))),
            Err(RecvError::Closed) => None,
        })
    }
}

impl<T, M: Mode> Drop for BroadcastStream<T, M> {
    fn drop(&mut self) {
        // SAFETY: as in `poll_next`; what was polled was pinned and did not move since.
        unsafe { self.receiver.shared.leave_line(Pin::new_unchecked(&self.node), 0) };
    }
}

impl<T, M: Mode> fmt::Debug for BroadcastStream<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastStream")
            .field("receiver", &self.receiver)
            .field("waiter", &self.node)
            .finish()
    }
}
