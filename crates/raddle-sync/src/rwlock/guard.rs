//! What holding the lock means: guards that read, write, or read and may upgrade, of all the data
//! or a part of it, with a borrowed or an owned lock.
//!
//! A guard is generic over how it holds the lock ([`Hold`]): a reference to the lock without its
//! data, so that a guard of a part forgets the type of the whole, or an `Arc`. The usual names are
//! aliases.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::lock::RwLock;
use super::raw::{Kind, RawRwLock};

/// How a guard holds its lock. Not to be implemented elsewhere.
pub trait Hold {
    #[doc(hidden)]
    fn raw(&self) -> &RawRwLock;
}

impl Hold for &RawRwLock {
    #[inline]
    fn raw(&self) -> &RawRwLock {
        self
    }
}

impl<T: ?Sized> Hold for Arc<RwLock<T>> {
    #[inline]
    fn raw(&self) -> &RawRwLock {
        &self.raw
    }
}

/// Reads; of all or of a part of what an [`RwLock`] protects.
pub type RwLockReadGuard<'a, T> = ReadGuard<&'a RawRwLock, T>;
/// Writes.
pub type RwLockWriteGuard<'a, T> = WriteGuard<&'a RawRwLock, T>;
/// Writes a part.
pub type RwLockMappedWriteGuard<'a, T> = MappedWriteGuard<&'a RawRwLock, T>;
/// Reads, and may become the writer.
pub type RwLockUpgradableGuard<'a, T> = UpgradableGuard<&'a RawRwLock, T>;
/// Reads, with a reference to the lock of its own.
pub type OwnedRwLockReadGuard<T, U = T> = ReadGuard<Arc<RwLock<T>>, U>;
/// Writes, with a reference to the lock of its own.
pub type OwnedRwLockWriteGuard<T> = WriteGuard<Arc<RwLock<T>>, T>;
/// Writes a part, with a reference to the lock of its own.
pub type OwnedRwLockMappedWriteGuard<T, U = T> = MappedWriteGuard<Arc<RwLock<T>>, U>;
/// Reads, and may become the writer, with a reference to the lock of its own.
pub type OwnedRwLockUpgradableGuard<T> = UpgradableGuard<Arc<RwLock<T>>, T>;

/// The right to read. See [`RwLockReadGuard`] and [`OwnedRwLockReadGuard`].
///
/// A reader may be sent to another thread, if others may read there:
///
/// ```compile_fail,E0277
/// fn send<T: Send>(_: T) {}
/// let lock = raddle_sync::RwLock::new(std::cell::Cell::new(1));
/// send(lock.try_read());
/// ```
#[must_use = "the lock is released as soon as this is dropped"]
pub struct ReadGuard<H: Hold, T: ?Sized> {
    hold: H,
    data: NonNull<T>,
}

// SAFETY: it gives shared access to the data, and releases the lock, which any thread may.
unsafe impl<H: Hold + Send, T: ?Sized + Sync> Send for ReadGuard<H, T> {}
// SAFETY: as above.
unsafe impl<H: Hold + Sync, T: ?Sized + Sync> Sync for ReadGuard<H, T> {}

impl<H: Hold, T: ?Sized> ReadGuard<H, T> {
    /// The lock is held in this way, and released by the guard.
    #[inline]
    pub(super) fn new(hold: H, data: NonNull<T>) -> Self {
        ReadGuard { hold, data }
    }

    /// A guard of a part of the data.
    #[inline]
    pub fn map<U: ?Sized>(this: Self, f: impl FnOnce(&T) -> &U) -> ReadGuard<H, U> {
        let data = NonNull::from(f(&this));
        ReadGuard::new(this.into_hold(), data)
    }

    /// A guard of a part of the data, if `f` finds it; else the guard comes back.
    #[doc(alias = "filter_map")]
    pub fn try_map<U: ?Sized>(
        this: Self,
        f: impl FnOnce(&T) -> Option<&U>,
    ) -> Result<ReadGuard<H, U>, Self> {
        match f(&this).map(NonNull::from) {
            Some(data) => Ok(ReadGuard::new(this.into_hold(), data)),
            None => Err(this),
        }
    }
}

impl<T: ?Sized, U: ?Sized> ReadGuard<Arc<RwLock<T>>, U> {
    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.hold
    }
}

impl<H: Hold, T: ?Sized> ReadGuard<H, T> {
    /// What holds the lock, without the release.
    #[inline]
    fn into_hold(self) -> H {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is forgotten, so the field is moved out exactly once.
        unsafe { ptr::read(&this.hold) }
    }
}

impl<H: Hold, T: ?Sized> Deref for ReadGuard<H, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held, so the data is there and not written by others.
        unsafe { self.data.as_ref() }
    }
}

impl<H: Hold, T: ?Sized> Drop for ReadGuard<H, T> {
    #[inline]
    fn drop(&mut self) {
        self.hold.raw().release(Kind::Read);
    }
}

impl<H: Hold, T: ?Sized + fmt::Debug> fmt::Debug for ReadGuard<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<H: Hold, T: ?Sized + fmt::Display> fmt::Display for ReadGuard<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The right to write. See [`RwLockWriteGuard`] and [`OwnedRwLockWriteGuard`].
///
/// It is invariant in what it protects, or something short-lived could be put in:
///
/// ```compile_fail
/// fn shorter<'a>(guard: raddle_sync::RwLockWriteGuard<'a, &'static str>)
///     -> raddle_sync::RwLockWriteGuard<'a, &'a str> { guard }
/// ```
#[must_use = "the lock is released as soon as this is dropped"]
pub struct WriteGuard<H: Hold, T: ?Sized> {
    hold: H,
    data: NonNull<T>,
    _invariant: PhantomData<*mut T>,
}

// SAFETY: it gives exclusive access to the data, and may let readers in, on any thread.
unsafe impl<H: Hold + Send, T: ?Sized + Send + Sync> Send for WriteGuard<H, T> {}
// SAFETY: as above, with shared access.
unsafe impl<H: Hold + Sync, T: ?Sized + Send + Sync> Sync for WriteGuard<H, T> {}

impl<H: Hold, T: ?Sized> WriteGuard<H, T> {
    /// The lock is held in this way, and released by the guard.
    #[inline]
    pub(super) fn new(hold: H, data: NonNull<T>) -> Self {
        WriteGuard { hold, data, _invariant: PhantomData }
    }

    /// A guard of a part of the data.
    #[inline]
    pub fn map<U: ?Sized>(
        mut this: Self,
        f: impl FnOnce(&mut T) -> &mut U,
    ) -> MappedWriteGuard<H, U> {
        let data = NonNull::from(f(&mut this));
        MappedWriteGuard::new(this.into_hold(), data)
    }

    /// A guard of a part of the data, if `f` finds it; else the guard comes back.
    #[doc(alias = "filter_map")]
    pub fn try_map<U: ?Sized>(
        mut this: Self,
        f: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<MappedWriteGuard<H, U>, Self> {
        match f(&mut this).map(NonNull::from) {
            Some(data) => Ok(MappedWriteGuard::new(this.into_hold(), data)),
            None => Err(this),
        }
    }

    /// Stays as a reader: nobody writes in between. Readers that wait go in beside it.
    pub fn downgrade(this: Self) -> ReadGuard<H, T> {
        let data = this.data;
        // Wakes others. If that panics, what is left of the hold is released.
        let guard = ReadGuard::new(this.into_hold(), data);
        guard.hold.raw().downgrade();
        guard
    }

    /// Stays as the upgradable reader: nobody writes in between.
    pub fn downgrade_to_upgradable(this: Self) -> UpgradableGuard<H, T> {
        let data = this.data;
        // Wakes others. If that panics, what is left of the hold is released.
        let guard = UpgradableGuard::new(this.into_hold(), data);
        guard.hold.raw().downgrade_to_upgradable();
        guard
    }
}

impl<T: ?Sized, U: ?Sized> WriteGuard<Arc<RwLock<T>>, U> {
    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.hold
    }
}

impl<H: Hold, T: ?Sized> WriteGuard<H, T> {
    /// What holds the lock, without the release.
    #[inline]
    fn into_hold(self) -> H {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is forgotten, so the field is moved out exactly once.
        unsafe { ptr::read(&this.hold) }
    }
}

impl<H: Hold, T: ?Sized> Deref for WriteGuard<H, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held, so the data is there and not written by others.
        unsafe { self.data.as_ref() }
    }
}

impl<H: Hold, T: ?Sized> DerefMut for WriteGuard<H, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held for writing, so nobody else has access.
        unsafe { self.data.as_mut() }
    }
}

impl<H: Hold, T: ?Sized> Drop for WriteGuard<H, T> {
    #[inline]
    fn drop(&mut self) {
        self.hold.raw().release(Kind::Write);
    }
}

impl<H: Hold, T: ?Sized + fmt::Debug> fmt::Debug for WriteGuard<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<H: Hold, T: ?Sized + fmt::Display> fmt::Display for WriteGuard<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The right to write a part. See [`RwLockMappedWriteGuard`] and
/// [`OwnedRwLockMappedWriteGuard`].
#[must_use = "the lock is released as soon as this is dropped"]
pub struct MappedWriteGuard<H: Hold, T: ?Sized> {
    hold: H,
    data: NonNull<T>,
    _invariant: PhantomData<*mut T>,
}

// SAFETY: as for `WriteGuard`.
unsafe impl<H: Hold + Send, T: ?Sized + Send + Sync> Send for MappedWriteGuard<H, T> {}
// SAFETY: as above.
unsafe impl<H: Hold + Sync, T: ?Sized + Send + Sync> Sync for MappedWriteGuard<H, T> {}

impl<H: Hold, T: ?Sized> MappedWriteGuard<H, T> {
    /// The lock is held in this way, and released by the guard.
    #[inline]
    pub(super) fn new(hold: H, data: NonNull<T>) -> Self {
        MappedWriteGuard { hold, data, _invariant: PhantomData }
    }

    /// A guard of a part of the data.
    #[inline]
    pub fn map<U: ?Sized>(
        mut this: Self,
        f: impl FnOnce(&mut T) -> &mut U,
    ) -> MappedWriteGuard<H, U> {
        let data = NonNull::from(f(&mut this));
        MappedWriteGuard::new(this.into_hold(), data)
    }

    /// A guard of a part of the data, if `f` finds it; else the guard comes back.
    #[doc(alias = "filter_map")]
    pub fn try_map<U: ?Sized>(
        mut this: Self,
        f: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<MappedWriteGuard<H, U>, Self> {
        match f(&mut this).map(NonNull::from) {
            Some(data) => Ok(MappedWriteGuard::new(this.into_hold(), data)),
            None => Err(this),
        }
    }
}

impl<T: ?Sized, U: ?Sized> MappedWriteGuard<Arc<RwLock<T>>, U> {
    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.hold
    }
}

impl<H: Hold, T: ?Sized> MappedWriteGuard<H, T> {
    /// What holds the lock, without the release.
    #[inline]
    fn into_hold(self) -> H {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is forgotten, so the field is moved out exactly once.
        unsafe { ptr::read(&this.hold) }
    }
}

impl<H: Hold, T: ?Sized> Deref for MappedWriteGuard<H, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held, so the data is there and not written by others.
        unsafe { self.data.as_ref() }
    }
}

impl<H: Hold, T: ?Sized> DerefMut for MappedWriteGuard<H, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held for writing, so nobody else has access.
        unsafe { self.data.as_mut() }
    }
}

impl<H: Hold, T: ?Sized> Drop for MappedWriteGuard<H, T> {
    #[inline]
    fn drop(&mut self) {
        self.hold.raw().release(Kind::Write);
    }
}

impl<H: Hold, T: ?Sized + fmt::Debug> fmt::Debug for MappedWriteGuard<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<H: Hold, T: ?Sized + fmt::Display> fmt::Display for MappedWriteGuard<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The right to read, and to become the writer. See [`RwLockUpgradableGuard`] and
/// [`OwnedRwLockUpgradableGuard`].
#[must_use = "the lock is released as soon as this is dropped"]
pub struct UpgradableGuard<H: Hold, T: ?Sized> {
    hold: H,
    data: NonNull<T>,
    _invariant: PhantomData<*mut T>,
}

// SAFETY: as for `WriteGuard`, which it may become.
unsafe impl<H: Hold + Send, T: ?Sized + Send + Sync> Send for UpgradableGuard<H, T> {}
// SAFETY: as above.
unsafe impl<H: Hold + Sync, T: ?Sized + Send + Sync> Sync for UpgradableGuard<H, T> {}

impl<H: Hold, T: ?Sized> UpgradableGuard<H, T> {
    /// The lock is held in this way, and released by the guard.
    #[inline]
    pub(super) fn new(hold: H, data: NonNull<T>) -> Self {
        UpgradableGuard { hold, data, _invariant: PhantomData }
    }

    #[inline]
    pub(super) fn raw(&self) -> &RawRwLock {
        self.hold.raw()
    }

    /// The lock was upgraded.
    pub(super) fn into_write(self) -> WriteGuard<H, T> {
        let data = self.data;
        WriteGuard::new(self.into_hold(), data)
    }

    /// Writes, if no other reads; else the guard comes back.
    #[track_caller]
    pub fn try_upgrade(this: Self) -> Result<WriteGuard<H, T>, Self> {
        match this.raw().try_enter(Kind::Upgrade, Location::caller()) {
            true => Ok(this.into_write()),
            false => Err(this),
        }
    }

    /// Stays as a plain reader; another may read upgradably.
    pub fn downgrade(this: Self) -> ReadGuard<H, T> {
        let data = this.data;
        // Wakes others. If that panics, what is left of the hold is released.
        let guard = ReadGuard::new(this.into_hold(), data);
        guard.hold.raw().upgradable_to_read();
        guard
    }
}

impl<T: ?Sized, U: ?Sized> UpgradableGuard<Arc<RwLock<T>>, U> {
    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.hold
    }
}

impl<H: Hold, T: ?Sized> UpgradableGuard<H, T> {
    /// What holds the lock, without the release.
    #[inline]
    fn into_hold(self) -> H {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is forgotten, so the field is moved out exactly once.
        unsafe { ptr::read(&this.hold) }
    }
}

impl<H: Hold, T: ?Sized> Deref for UpgradableGuard<H, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held, so the data is there and not written by others.
        unsafe { self.data.as_ref() }
    }
}

impl<H: Hold, T: ?Sized> Drop for UpgradableGuard<H, T> {
    #[inline]
    fn drop(&mut self) {
        self.hold.raw().release(Kind::Upgradable);
    }
}

impl<H: Hold, T: ?Sized + fmt::Debug> fmt::Debug for UpgradableGuard<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<H: Hold, T: ?Sized + fmt::Display> fmt::Display for UpgradableGuard<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
