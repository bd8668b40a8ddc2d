//! Senders as a `Sink`.
//!
//! A sink has room or waits for it before it is given a value, so the one for a channel with a
//! bound holds a reservation: a pinned wait, then a place. It is a type of its own and not a face
//! of [`Sender`], which is shared by reference and must not remember who waits. Without a bound
//! there is nothing to remember, and the sender itself is a sink.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_sink::Sink;

use super::error::SendError;
use super::kind::Unbounded;
use super::owned::{OwnedPermit, ReserveOwned};
use super::sender::Sender;
use std::future::Future;

/// A sender of a channel with a bound, as a [`Sink`].
///
/// Closing it drops the sender. Nothing is buffered: a value given to it was sent.
///
/// ```
/// use std::pin::pin;
///
/// use futures_sink::Sink;
/// use raddle_sync::{block_on, mpsc};
///
/// let (tx, mut rx) = mpsc::channel(1);
/// let mut sink = pin!(mpsc::SenderSink::new(tx));
/// block_on(std::future::poll_fn(|cx| sink.as_mut().poll_ready(cx))).unwrap();
/// sink.as_mut().start_send(7).unwrap();
/// assert_eq!(rx.blocking_recv(), Some(7));
/// ```
pub struct SenderSink<T> {
    sender: Option<Sender<T>>,
    state: State<T>,
}

enum State<T> {
    Idle,
    Waiting(ReserveOwned<T>),
    Reserved(OwnedPermit<T>),
}

impl<T> SenderSink<T> {
    /// The sink of a sender.
    pub fn new(sender: Sender<T>) -> Self {
        SenderSink { sender: Some(sender), state: State::Idle }
    }

    /// The sender, unless the sink was closed.
    pub fn sender(&self) -> Option<&Sender<T>> {
        self.sender.as_ref()
    }
}

impl<T> Sink<T> for SenderSink<T> {
    type Error = SendError<()>;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        // SAFETY: a wait is pinned in `state` until it is replaced, which drops it in place.
        let this = unsafe { self.get_unchecked_mut() };
        if matches!(this.state, State::Idle) {
            let Some(sender) = &this.sender else { return Poll::Ready(Err(SendError(()))) };
            this.state = State::Waiting(sender.clone().reserve_owned());
        }
        if let State::Waiting(wait) = &mut this.state {
            // SAFETY: as above.
            let result = ready!(unsafe { Pin::new_unchecked(wait) }.poll(cx));
            this.state = State::Idle;
            this.state = State::Reserved(result?);
        }
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, value: T) -> Result<(), SendError<()>> {
        // SAFETY: as in `poll_ready`.
        let this = unsafe { self.get_unchecked_mut() };
        if !matches!(this.state, State::Reserved(_)) {
            return Err(SendError(()));
        }
        if let State::Reserved(place) = std::mem::replace(&mut this.state, State::Idle) {
            place.send(value);
        }
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        // SAFETY: as in `poll_ready`.
        let this = unsafe { self.get_unchecked_mut() };
        this.state = State::Idle;
        this.sender = None;
        Poll::Ready(Ok(()))
    }
}

impl<T> fmt::Debug for SenderSink<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderSink").field("sender", &self.sender).finish_non_exhaustive()
    }
}

/// Always ready; the value is dropped with the error if the receiver is closed or gone.
impl<T> Sink<T> for Sender<T, Unbounded> {
    type Error = SendError<()>;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        Poll::Ready(if self.is_closed() { Err(SendError(())) } else { Ok(()) })
    }

    fn start_send(self: Pin<&mut Self>, value: T) -> Result<(), SendError<()>> {
        self.send(value).map_err(|_| SendError(()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), SendError<()>>> {
        Poll::Ready(Ok(()))
    }
}
