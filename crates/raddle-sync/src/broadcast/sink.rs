//! A sender that waits for room as a `Sink`.
//!
//! A sink has room or waits for it before it is given a value, so this holds a reservation: a
//! pinned wait, then a permit. It is a type of its own and not a face of the sender, which is
//! shared by reference and must not remember who waits.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_sink::Sink;

use super::error::SendError;
use super::mode::Lossless;
use super::permit::OwnedPermit;
use super::place::ReserveOwned;
use super::sender::Sender;

/// A sender of a lossless channel, as a [`Sink`].
///
/// Closing it drops the sender. Nothing is buffered: a value given to it was sent.
///
/// ```
/// use std::pin::pin;
///
/// use futures_sink::Sink;
/// use raddle_sync::{block_on, broadcast};
///
/// let (tx, mut rx) = broadcast::lossless_channel(1);
/// let mut sink = pin!(broadcast::SenderSink::new(tx));
/// block_on(std::future::poll_fn(|cx| sink.as_mut().poll_ready(cx))).unwrap();
/// sink.as_mut().start_send(7).unwrap();
/// assert_eq!(rx.blocking_recv(), Ok(7));
/// ```
pub struct SenderSink<T> {
    sender: Option<Sender<T, Lossless>>,
    state: State<T>,
}

enum State<T> {
    Idle,
    Waiting(ReserveOwned<T>),
    Reserved(OwnedPermit<T>),
}

impl<T> SenderSink<T> {
    /// The sink of a sender.
    pub fn new(sender: Sender<T, Lossless>) -> Self {
        SenderSink { sender: Some(sender), state: State::Idle }
    }

    /// The sender, unless the sink was closed.
    pub fn sender(&self) -> Option<&Sender<T, Lossless>> {
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

    /// An error if there was no reservation, or there is no receiver: the value is dropped then.
    fn start_send(self: Pin<&mut Self>, value: T) -> Result<(), SendError<()>> {
        // SAFETY: as in `poll_ready`.
        let this = unsafe { self.get_unchecked_mut() };
        if !matches!(this.state, State::Reserved(_)) {
            return Err(SendError(()));
        }
        match std::mem::replace(&mut this.state, State::Idle) {
            State::Reserved(permit) => permit.send(value).map(drop).map_err(|_| SendError(())),
            _ => Err(SendError(())),
        }
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
