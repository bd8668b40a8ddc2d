//! async-lock: the locks of the smol family.

use super::rows;
use crate::contender::Contender;
use crate::kinds::{Cell, Lock, Meeting, Permits, ReadWrite};
use async_lock::{
    Barrier, Mutex, MutexGuard, OnceCell, RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore,
    SemaphoreGuard,
};
use std::future::Future;

pub(super) const ASYNC_LOCK: Contender = Contender {
    name: "async-lock",
    about: "async-lock, primitives only",
    entries: || {
        let mut entries = rows::lock::<Mutex<usize>>();
        entries.extend(rows::read_write::<RwLock<usize>>());
        entries.extend(rows::permits::<Semaphore>());
        entries.extend(rows::cell::<OnceCell<usize>>());
        entries.push(rows::barrier::<Barrier>());
        entries
    },
    memory: Vec::new,
};

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
        self.try_read()
    }
}

impl Permits for Semaphore {
    type Permit<'a> = SemaphoreGuard<'a>;

    fn new(permits: usize) -> Self {
        Semaphore::new(permits)
    }

    #[inline]
    fn acquire(&self) -> impl Future<Output = Self::Permit<'_>> {
        self.acquire()
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
