//! kanal: channels of many senders and receivers, with one of each here.

use super::rows;
use crate::cases::one_item::CAPACITY;
use crate::contender::Contender;
use crate::kinds::{Got, Line};
use kanal::{AsyncReceiver, AsyncSender};
use std::future::{Future, ready};

pub(super) const KANAL: Contender = Contender {
    name: "kanal",
    about: "kanal, channels only",
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
    type Tx = AsyncSender<usize>;
    type Rx = AsyncReceiver<usize>;

    fn channel() -> (Self::Tx, Self::Rx) {
        kanal::bounded_async(CAPACITY)
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
    type Tx = AsyncSender<usize>;
    type Rx = AsyncReceiver<usize>;

    fn channel() -> (Self::Tx, Self::Rx) {
        kanal::unbounded_async()
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
