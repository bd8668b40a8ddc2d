//! tokio's primitives, on no runtime of its own: they work under any.

use crate::cases::one_item::CAPACITY;
use crate::contender::Contender;
use crate::contenders::rows;
use crate::kinds::{AutoEvent, Cell, Got, Line, Lock, Meeting, Permits, ReadWrite, Single};
use std::future::{Future, ready};
use tokio::sync::{
    AcquireError, Barrier, Mutex, MutexGuard, Notify, OnceCell, RwLock, RwLockReadGuard,
    RwLockWriteGuard, Semaphore, SemaphorePermit, broadcast, mpsc, oneshot, watch,
};

pub(crate) const TOKIO: Contender = Contender {
    name: "tokio",
    about: "tokio::sync, primitives only",
    entries: || {
        let mut entries = rows::auto_event::<Notify>();
        entries.extend(rows::lock::<Mutex<usize>>());
        entries.extend(rows::read_write::<RwLock<usize>>());
        entries.extend(rows::permits::<Semaphore>());
        entries.extend(rows::cell::<OnceCell<usize>>());
        entries.extend([
            rows::oneshot::<Oneshot>(),
            rows::mpsc_bounded::<Bounded>(),
            rows::mpsc_unbounded::<Unbounded>(),
            rows::broadcast::<Broadcast>(),
            rows::watch::<Watch>(),
            rows::barrier::<Barrier>(),
        ]);
        entries
    },
    memory: Vec::new,
};

impl AutoEvent for Notify {
    fn new() -> Self {
        Notify::new()
    }

    #[inline]
    fn set(&self) {
        self.notify_one();
    }

    #[inline]
    fn wait(&self) -> impl Future<Output = ()> {
        self.notified()
    }
}

impl Lock for Mutex<usize> {
    type Guard<'a> = MutexGuard<'a, usize>;

    fn new() -> Self {
        Mutex::new(0)
    }

    #[inline]
    fn lock(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}

impl ReadWrite for RwLock<usize> {
    type Read<'a> = RwLockReadGuard<'a, usize>;
    type Write<'a> = RwLockWriteGuard<'a, usize>;

    fn new() -> Self {
        RwLock::new(0)
    }

    #[inline]
    fn read(&self) -> impl Future<Output = Self::Read<'_>> + Send {
        self.read()
    }

    #[inline]
    fn write(&self) -> impl Future<Output = Self::Write<'_>> + Send {
        self.write()
    }

    #[inline]
    fn try_read(&self) -> Option<Self::Read<'_>> {
        self.try_read().ok()
    }
}

impl Permits for Semaphore {
    type Permit<'a> = Result<SemaphorePermit<'a>, AcquireError>;

    fn new(permits: usize) -> Self {
        Semaphore::new(permits)
    }

    #[inline]
    fn acquire(&self) -> impl Future<Output = Self::Permit<'_>> {
        self.acquire()
    }
}

/// `oneshot`.
struct Oneshot;

impl Single for Oneshot {
    type Tx = oneshot::Sender<usize>;
    type Rx = oneshot::Receiver<usize>;

    #[inline]
    fn channel() -> (Self::Tx, Self::Rx) {
        oneshot::channel()
    }

    #[inline]
    fn send(tx: Self::Tx, value: usize) {
        assert!(tx.send(value).is_ok(), "the receiver is there");
    }

    #[inline]
    fn recv(rx: Self::Rx) -> impl Future<Output = impl Got> {
        rx
    }
}

/// `mpsc::channel`.
struct Bounded;

impl Line for Bounded {
    type Tx = mpsc::Sender<usize>;
    type Rx = mpsc::Receiver<usize>;

    fn channel() -> (Self::Tx, Self::Rx) {
        mpsc::channel(CAPACITY)
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

/// `mpsc::unbounded_channel`.
struct Unbounded;

impl Line for Unbounded {
    type Tx = mpsc::UnboundedSender<usize>;
    type Rx = mpsc::UnboundedReceiver<usize>;

    fn channel() -> (Self::Tx, Self::Rx) {
        mpsc::unbounded_channel()
    }

    #[inline]
    fn send(tx: &mut Self::Tx, value: usize) -> impl Future<Output = impl Sized> {
        ready(tx.send(value))
    }

    #[inline]
    fn recv(rx: &mut Self::Rx) -> impl Future<Output = impl Got> {
        rx.recv()
    }
}

impl Meeting for Barrier {
    fn new(parties: usize) -> Self {
        Barrier::new(parties)
    }

    #[inline]
    fn wait(&self) -> impl Future<Output = impl Sized> {
        self.wait()
    }
}

impl Cell for OnceCell<usize> {
    #[inline]
    fn new() -> Self {
        OnceCell::new()
    }

    #[inline]
    fn get_or_init<F, A>(&self, init: F) -> impl Future<Output = &usize>
    where
        F: FnOnce() -> A,
        A: Future<Output = usize>,
    {
        self.get_or_init(init)
    }
}

/// `broadcast::channel`.
struct Broadcast;

impl Line for Broadcast {
    type Tx = broadcast::Sender<usize>;
    type Rx = broadcast::Receiver<usize>;

    fn channel() -> (Self::Tx, Self::Rx) {
        broadcast::channel(CAPACITY)
    }

    #[inline]
    fn send(tx: &mut Self::Tx, value: usize) -> impl Future<Output = impl Sized> {
        ready(tx.send(value))
    }

    #[inline]
    fn recv(rx: &mut Self::Rx) -> impl Future<Output = impl Got> {
        rx.recv()
    }
}

/// `watch::channel`.
struct Watch;

impl Line for Watch {
    type Tx = watch::Sender<usize>;
    type Rx = watch::Receiver<usize>;

    fn channel() -> (Self::Tx, Self::Rx) {
        watch::channel(0)
    }

    #[inline]
    fn send(tx: &mut Self::Tx, value: usize) -> impl Future<Output = impl Sized> {
        ready(tx.send(value))
    }

    #[inline]
    async fn recv(rx: &mut Self::Rx) -> impl Got {
        rx.changed().await.expect("the sender is there");
        *rx.borrow_and_update()
    }
}
