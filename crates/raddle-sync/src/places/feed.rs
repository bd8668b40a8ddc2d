//! Senders as a `Sink`.
//!
//! A sink has room or waits for it before it is given a value, so one for a channel whose senders
//! wait holds a reservation: a pinned wait, then a place. It is a type of its own and not a face of
//! the sender, which is shared by reference and must not remember who waits. Where sending never
//! waits there is nothing to remember, and the sender itself is a sink (`sink_at_once`).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::{ErrorOf, Held, Places, Reach, Reserving};

/// A sender with a reservation.
pub(crate) struct Feed<S: Reach> {
    /// `None` once it was closed.
    sender: Option<S>,
    state: State<S>,
}

enum State<S: Reach> {
    Idle,
    Waiting(Reserving<S>),
    Reserved(Held<S>),
}

impl<S: Reach + Clone> Feed<S> {
    pub(crate) fn new(sender: S) -> Self {
        Feed { sender: Some(sender), state: State::Idle }
    }

    pub(crate) fn sender(&self) -> Option<&S> {
        self.sender.as_ref()
    }

    pub(crate) fn poll_ready(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), ErrorOf<S>>> {
        // SAFETY: a wait is pinned in `state` until it is replaced, which drops it in place.
        let this = unsafe { self.get_unchecked_mut() };
        if matches!(this.state, State::Idle) {
            let Some(sender) = &this.sender else { return Poll::Ready(Err(S::Chan::no_place())) };
            this.state = State::Waiting(Reserving::new(sender.clone(), 1));
        }
        if let State::Waiting(wait) = &mut this.state {
            // SAFETY: as above.
            let result = ready!(unsafe { Pin::new_unchecked(wait) }.poll(cx));
            this.state = State::Idle;
            this.state = State::Reserved(result?);
        }
        Poll::Ready(Ok(()))
    }

    /// An error if there was no reservation, or nobody to receive the value: it is dropped then.
    pub(crate) fn start_send(
        self: Pin<&mut Self>,
        value: <S::Chan as Places>::Value,
    ) -> Result<(), ErrorOf<S>> {
        // SAFETY: as in `poll_ready`.
        let this = unsafe { self.get_unchecked_mut() };
        if !matches!(this.state, State::Reserved(_)) {
            return Err(S::Chan::no_place());
        }
        match std::mem::replace(&mut this.state, State::Idle) {
            State::Reserved(held) => held.spend().chan().put(value),
            _ => Err(S::Chan::no_place()),
        }
    }

    pub(crate) fn close(self: Pin<&mut Self>) {
        // SAFETY: as in `poll_ready`.
        let this = unsafe { self.get_unchecked_mut() };
        this.state = State::Idle;
        this.sender = None;
    }
}

/// Makes a sender that never waits a sink.
macro_rules! sink_at_once {
    ($sender:ty, $error:ty, $refused:expr, $send:expr) => {
        /// Always ready; the value is dropped with the error if nobody would receive it.
        impl<T> futures_sink::Sink<T> for $sender {
            type Error = $error;

            fn poll_ready(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<(), $error>> {
                std::task::Poll::Ready(if self.is_closed() { Err($refused(&self)) } else { Ok(()) })
            }

            fn start_send(self: std::pin::Pin<&mut Self>, value: T) -> Result<(), $error> {
                $send(&self, value)
            }

            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<(), $error>> {
                std::task::Poll::Ready(Ok(()))
            }

            /// Does nothing: the channel ends with its senders.
            fn poll_close(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<(), $error>> {
                std::task::Poll::Ready(Ok(()))
            }
        }
    };
}

pub(crate) use sink_at_once;
