//! async-channel: channels of many senders and receivers, with one of each here.

use super::rows;
use crate::cases::one_item::CAPACITY;
use crate::contender::Contender;
use crate::kinds::{Got, Line};
use async_channel::{Receiver, Sender};
use std::future::{Future, ready};

pub(super) const ASYNC_CHANNEL: Contender = Contender {
    name: "async-channel",
    about: "async-channel, channels only",
    entries: || {
        vec![
            rows::mpsc_bounded::<Bounded>(),
            rows::mpsc_unbounded::<Unbounded>(),
            rows::mpmc::<Bounded>(),
        ]
    },
    memory: Vec::new,
};

struct Bounded;

impl Line for Bounded {
    type Tx = Sender<usize>;
    type Rx = Receiver<usize>;

    fn channel() -> (Self::Tx, Self::Rx) {
        async_channel::bounded(CAPACITY)
    }

    #[inline]
    fn send(tx: &mut Self::Tx, value: usize) -> impl Future<Output = impl Sized> {
        tx.send(value)
    }

    #[inline]
    fn recv(rx: &mut Self::Rx) -> impl Future<Output = impl Got> {
        rx.recv()
    }
}

struct Unbounded;

impl Line for Unbounded {
    type Tx = Sender<usize>;
    type Rx = Receiver<usize>;

    fn channel() -> (Self::Tx, Self::Rx) {
        async_channel::unbounded()
    }

    #[inline]
    fn send(tx: &mut Self::Tx, value: usize) -> impl Future<Output = impl Sized> {
        ready(tx.try_send(value))
    }

    #[inline]
    fn recv(rx: &mut Self::Rx) -> impl Future<Output = impl Got> {
        rx.recv()
    }
}
