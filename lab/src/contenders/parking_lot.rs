//! `parking_lot`: blocks the thread, so it takes part only where nobody waits, and between threads.
//!
//! No peer in what it promises (its waits cannot be cancelled, and are no futures): a floor.

use super::rows;
use crate::contender::Contender;
use crate::kinds::{Lock, ReadWrite};
use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub(super) const PARKING_LOT: Contender = Contender {
    name: "parking_lot",
    about: "parking_lot, which blocks: where nobody waits, and between threads",
    entries: || {
        let mut entries = rows::blocking_lock::<Mutex<usize>>();
        entries.extend(rows::blocking_read_write::<RwLock<usize>>());
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
    async fn lock(&self) -> Self::Guard<'_> {
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
    async fn read(&self) -> Self::Read<'_> {
        self.read()
    }

    #[inline]
    async fn write(&self) -> Self::Write<'_> {
        self.write()
    }

    #[inline]
    fn try_read(&self) -> Option<Self::Read<'_>> {
        self.try_read()
    }
}
