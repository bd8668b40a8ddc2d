//! futures-intrusive: waiters in the futures, as raddle has them, behind a `parking_lot` mutex.
//!
//! Its unfair flavours, which are its faster ones.

use super::rows;
use crate::cases::one_item::CAPACITY;
use crate::contender::Contender;
use crate::kinds::{Event, Got, Line, Lock, Permits, Single};
use futures_intrusive::channel::shared::{
    OneshotReceiver, OneshotSender, Receiver, Sender, channel, oneshot_channel,
};
use futures_intrusive::sync::{ManualResetEvent, Mutex, MutexGuard, Semaphore, SemaphoreReleaser};
use std::future::Future;

pub(super) const FUTURES_INTRUSIVE: Contender = Contender {
    name: "futures-intrusive",
    about: "futures-intrusive, primitives only",
    entries: || {
        let mut entries = rows::event::<ManualResetEvent>();
        entries.extend(rows::lock::<Mutex<usize>>());
        entries.extend(rows::permits::<Semaphore>());
        entries.extend([
            rows::oneshot::<Oneshot>(),
            rows::mpsc_bounded::<Bounded>(),
            rows::mpmc::<Bounded>(),
        ]);
        entries
    },
    memory: Vec::new,
};

impl Event for ManualResetEvent {
    fn new() -> Self {
        ManualResetEvent::new(false)
    }

    #[inline]
    fn is_set(&self) -> bool {
        self.is_set()
    }

    #[inline]
    fn set(&self) {
        self.set();
    }

    #[inline]
    fn reset(&self) {
        self.reset();
    }

    #[inline]
    fn wait(&self) -> impl Future<Output = ()> {
        self.wait()
    }
}

impl Lock for Mutex<usize> {
    type Guard<'a> = MutexGuard<'a, usize>;

    fn new() -> Self {
        Mutex::new(0, false)
    }

    #[inline]
    fn lock(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}

impl Permits for Semaphore {
    type Permit<'a> = SemaphoreReleaser<'a>;

    fn new(permits: usize) -> Self {
        Semaphore::new(false, permits)
    }

    #[inline]
    fn acquire(&self) -> impl Future<Output = Self::Permit<'_>> {
        self.acquire(1)
    }
}

struct Oneshot;

impl Single for Oneshot {
    type Tx = OneshotSender<usize>;
    type Rx = OneshotReceiver<usize>;

    #[inline]
    fn channel() -> (Self::Tx, Self::Rx) {
        oneshot_channel()
    }

    #[inline]
    fn send(tx: Self::Tx, value: usize) {
        assert!(tx.send(value).is_ok(), "the receiver is there");
    }

    #[inline]
    fn recv(rx: Self::Rx) -> impl Future<Output = impl Got> {
        rx.receive()
    }
}

struct Bounded;

impl Line for Bounded {
    type Tx = Sender<usize>;
    type Rx = Receiver<usize>;

    fn channel() -> (Self::Tx, Self::Rx) {
        channel(CAPACITY)
    }

    #[inline]
    fn send(tx: &mut Self::Tx, value: usize) -> impl Future<Output = impl Sized> {
        tx.send(value)
    }

    #[inline]
    fn recv(rx: &mut Self::Rx) -> impl Future<Output = impl Got> {
        rx.receive()
    }
}
