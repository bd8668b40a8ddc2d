//! A watched value as a stream.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use raddle_base::wait::{WaitKind, Waiter};

use super::receiver::Receiver;

/// The values of a [`Receiver`] as a [`Stream`]: clones of those that it finds when it is polled,
/// the last one certainly. It ends when all senders are gone.
///
/// It contains a place in the channel's queue, so it must be pinned to be polled.
///
/// ```
/// use std::pin::pin;
///
/// use futures_core::Stream;
/// use raddle_sync::{block_on, watch};
///
/// let (tx, rx) = watch::channel(1);
/// let mut values = pin!(watch::WatchStream::new(rx));
/// let mut next = || block_on(std::future::poll_fn(|cx| values.as_mut().poll_next(cx)));
/// assert_eq!(next(), Some(1));
/// tx.send(2).unwrap();
/// tx.send(3).unwrap();
/// drop(tx);
/// assert_eq!((next(), next()), (Some(3), None));
/// ```
pub struct WatchStream<T> {
    receiver: Receiver<T>,
    node: Waiter,
}

impl<T> WatchStream<T> {
    /// Begins with the value there is, seen or not.
    #[track_caller]
    pub fn new(mut receiver: Receiver<T>) -> Self {
        receiver.mark_changed();
        Self::from_changes(receiver)
    }

    /// Begins with the first value that the receiver has not seen.
    #[track_caller]
    pub fn from_changes(receiver: Receiver<T>) -> Self {
        WatchStream { receiver, node: Waiter::new(WaitKind::Value, ()) }
    }

    /// The receiver, for a look beside the stream.
    pub fn receiver(&self) -> &Receiver<T> {
        &self.receiver
    }
}

impl<T: Clone> Receiver<T> {
    /// The values as a stream. It begins with the one there is, unless that was seen.
    #[track_caller]
    pub fn into_stream(self) -> WatchStream<T> {
        WatchStream::from_changes(self)
    }
}

impl<T: Clone> Stream for WatchStream<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        // SAFETY: the node is not moved out of it, and nothing else is pinned.
        let this = unsafe { self.get_unchecked_mut() };
        let shared = &this.receiver.shared;
        // SAFETY: the node is pinned with the stream, used with this channel only, and leaves when
        // the stream is dropped.
        let node = unsafe { Pin::new_unchecked(&this.node) };
        // SAFETY: as above.
        if ready!(unsafe { shared.poll_news(node, this.receiver.seen, cx) }).is_err() {
            return Poll::Ready(None);
        }
        let reading = shared.read_at(node.site().location);
        // Foreign code, with nothing but the value locked. If it panics, nothing was seen.
        let (value, version) = (reading.value().clone(), reading.version);
        drop(reading);
        this.receiver.seen = version;
        Poll::Ready(Some(value))
    }
}

impl<T> Drop for WatchStream<T> {
    fn drop(&mut self) {
        // SAFETY: as in `poll_next`; what was polled was pinned and did not move since.
        unsafe { self.receiver.shared.leave(Pin::new_unchecked(&self.node)) };
    }
}

impl<T> fmt::Debug for WatchStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchStream")
            .field("receiver", &self.receiver)
            .field("waiter", &self.node)
            .finish()
    }
}
