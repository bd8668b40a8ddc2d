//! raddle's primitives as the cases use them.

use crate::cases::one_item::CAPACITY;
use crate::contender::Entry;
use crate::contenders::rows;
use crate::kinds::{
    AutoEvent, Cell, Condition, Event, Gate, Got, Group, Line, Lock, Meeting, Permits, ReadWrite,
    Single,
};
use raddle_sync::{
    AutoResetEvent, Barrier, Condvar, Latch, ManualResetEvent, Mutex, MutexGuard, OnceCell, RwLock,
    RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit, WaitGroup, broadcast, mpmc,
    mpsc, oneshot, watch,
};
use std::future::{Future, ready};

/// The cases of primitives.
pub(crate) fn entries() -> Vec<Entry> {
    let mut entries = rows::event::<ManualResetEvent>();
    entries.extend(rows::auto_event::<AutoResetEvent>());
    entries.extend(rows::lock::<Mutex<usize>>());
    entries.extend(rows::read_write::<RwLock<usize>>());
    entries.extend(rows::permits::<Semaphore>());
    entries.extend(rows::cell::<OnceCell<usize>>());
    entries.extend([
        rows::oneshot::<Oneshot>(),
        rows::mpsc_bounded::<Bounded>(),
        rows::mpsc_unbounded::<Unbounded>(),
        rows::mpmc::<ManyToMany>(),
        rows::broadcast::<Broadcast>(),
        rows::watch::<Watch>(),
        rows::barrier::<Barrier>(),
        rows::latch::<Latch>(),
        rows::waitgroup::<WaitGroup>(),
        rows::condvar::<Condvar>(),
    ]);
    entries
}

impl Event for ManualResetEvent {
    fn new() -> Self {
        ManualResetEvent::new()
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

impl AutoEvent for AutoResetEvent {
    fn new() -> Self {
        AutoResetEvent::new()
    }

    #[inline]
    fn set(&self) {
        self.set();
    }

    #[inline]
    fn wait(&self) -> impl Future<Output = ()> {
        self.wait()
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

impl Condition for Condvar {
    type Lock = Mutex<usize>;

    fn new() -> Self {
        Condvar::new()
    }

    #[inline]
    fn wait<'a>(
        &self,
        guard: <Self::Lock as Lock>::Guard<'a>,
    ) -> impl Future<Output = <Self::Lock as Lock>::Guard<'a>> {
        self.wait(guard)
    }

    #[inline]
    fn notify_one(&self) {
        self.notify_one();
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
        self.try_read()
    }
}

impl Permits for Semaphore {
    type Permit<'a> = Result<SemaphorePermit<'a>, raddle_sync::AcquireError>;

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

impl Gate for Latch {
    #[inline]
    fn new(count: usize) -> Self {
        Latch::new(count)
    }

    #[inline]
    fn count_down(&self) {
        self.count_down();
    }

    #[inline]
    fn wait(&self) -> impl Future<Output = ()> {
        self.wait()
    }
}

impl Group for WaitGroup {
    #[inline]
    fn new() -> Self {
        WaitGroup::new()
    }

    #[inline]
    fn wait(self) -> impl Future<Output = ()> {
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

/// `mpmc::bounded`.
struct ManyToMany;

impl Line for ManyToMany {
    type Tx = mpmc::Sender<usize>;
    type Rx = mpmc::Receiver<usize>;

    fn channel() -> (Self::Tx, Self::Rx) {
        mpmc::bounded(CAPACITY)
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

/// `broadcast::channel`, which overwrites what lags.
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
    fn recv(rx: &mut Self::Rx) -> impl Future<Output = impl Got> {
        rx.recv()
    }
}
