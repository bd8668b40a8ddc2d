//! What holding the lock means: guards that read, write, or read and may upgrade, of all the data
//! or a part of it, with a borrowed or an owned lock.
//!
//! There is one guard, [`Guard`], generic over how it holds the lock ([`Hold`]: a reference to the
//! lock without its data, so that a guard of a part forgets the type of the whole, or an `Arc`) and
//! over what it may do ([`Way`]). The usual names are aliases.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::lock::RwLock;
use super::raw::RawRwLock;
use super::word::Kind;
use crate::owner::Held;

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

/// What a guard may do. Not to be implemented elsewhere.
#[expect(private_interfaces, reason = "the trait is public for bounds only")]
pub trait Way {
    #[doc(hidden)]
    const KIND: Kind;
}

/// A way that gives exclusive access. Not to be implemented elsewhere.
pub trait Exclusive: Way {}

/// Reads.
#[derive(Debug)]
pub struct Reads<T: ?Sized>(PhantomData<*const T>);
/// Writes.
#[derive(Debug)]
pub struct Writes<T: ?Sized>(PhantomData<*mut T>);
/// Writes a part.
#[derive(Debug)]
pub struct WritesPart<T: ?Sized>(PhantomData<*mut T>);
/// Reads, and may become the writer.
#[derive(Debug)]
pub struct MayUpgrade<T: ?Sized>(PhantomData<*mut T>);

macro_rules! ways {
    ($($way:ident: $kind:ident, $($bound:path),+;)+) => {$(
        #[expect(private_interfaces, reason = "as for the trait")]
        impl<T: ?Sized> Way for $way<T> {
            const KIND: Kind = Kind::$kind;
        }

        // SAFETY: it stands for the access of a guard to the data. Shared access crosses threads
        // with data that is `Sync`; exclusive access also sends it, and may become shared.
        unsafe impl<T: ?Sized $(+ $bound)+> Send for $way<T> {}
        // SAFETY: as above.
        unsafe impl<T: ?Sized $(+ $bound)+> Sync for $way<T> {}
    )+};
}

ways! {
    Reads: Read, Sync;
    Writes: Write, Send, Sync;
    WritesPart: Write, Send, Sync;
    MayUpgrade: Upgradable, Send, Sync;
}

impl<T: ?Sized> Exclusive for Writes<T> {}
impl<T: ?Sized> Exclusive for WritesPart<T> {}

/// The right to read. See [`RwLockReadGuard`] and [`OwnedRwLockReadGuard`].
pub type ReadGuard<H, T> = Guard<H, T, Reads<T>>;
/// The right to write. See [`RwLockWriteGuard`] and [`OwnedRwLockWriteGuard`].
pub type WriteGuard<H, T> = Guard<H, T, Writes<T>>;
/// The right to write a part. See [`RwLockMappedWriteGuard`] and [`OwnedRwLockMappedWriteGuard`].
pub type MappedWriteGuard<H, T> = Guard<H, T, WritesPart<T>>;
/// The right to read, and to become the writer. See [`RwLockUpgradableGuard`] and
/// [`OwnedRwLockUpgradableGuard`].
pub type UpgradableGuard<H, T> = Guard<H, T, MayUpgrade<T>>;

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

/// The lock is held, in the way of `W`; released when this is dropped, on any thread.
///
/// A reader may be sent to another thread, if others may read there:
///
/// ```compile_fail,E0277
/// fn send<T: Send>(_: T) {}
/// let lock = raddle_sync::RwLock::new(std::cell::Cell::new(1));
/// send(lock.try_read());
/// ```
///
/// A writer is invariant in what it protects, or something short-lived could be put in:
///
/// ```compile_fail
/// fn shorter<'a>(guard: raddle_sync::RwLockWriteGuard<'a, &'static str>)
///     -> raddle_sync::RwLockWriteGuard<'a, &'a str> { guard }
/// ```
#[must_use = "the lock is released as soon as this is dropped"]
pub struct Guard<H: Hold, T: ?Sized, W: Way> {
    hold: H,
    data: NonNull<T>,
    held: Held,
    way: PhantomData<W>,
}

// SAFETY: the way says whether its access to the data may cross threads, and any thread may release
// the lock.
unsafe impl<H: Hold + Send, T: ?Sized, W: Way + Send> Send for Guard<H, T, W> {}
// SAFETY: as above.
unsafe impl<H: Hold + Sync, T: ?Sized, W: Way + Sync> Sync for Guard<H, T, W> {}

impl<H: Hold, T: ?Sized, W: Way> Guard<H, T, W> {
    /// The lock is held in this way, and released by the guard.
    #[inline]
    pub(super) fn new(hold: H, data: NonNull<T>, held: Held) -> Self {
        Guard { hold, data, held, way: PhantomData }
    }

    #[inline]
    pub(super) fn raw(&self) -> &RawRwLock {
        self.hold.raw()
    }

    /// The guard in another way or of other data, without a release.
    #[inline]
    fn turn<U: ?Sized, V: Way>(self, data: NonNull<U>) -> Guard<H, U, V> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is forgotten, so each field is moved out exactly once.
        let (hold, held) = unsafe { (ptr::read(&this.hold), ptr::read(&this.held)) };
        Guard::new(hold, data, held)
    }
}

impl<T: ?Sized, U: ?Sized, W: Way> Guard<Arc<RwLock<T>>, U, W> {
    /// The lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        &this.hold
    }
}

macro_rules! maps {
    ($from:ident -> $to:ident, $(#$mutable:tt)?) => {
        impl<H: Hold, T: ?Sized> $from<H, T> {
            /// A guard of a part of the data.
            #[inline]
            pub fn map<U: ?Sized>(
                $($mutable)? this: Self,
                f: impl FnOnce(&$($mutable)? T) -> &$($mutable)? U,
            ) -> $to<H, U> {
                let data = NonNull::from(f(&$($mutable)? this));
                this.turn(data)
            }

            /// A guard of a part of the data, if `f` finds it; else the guard comes back.
            #[doc(alias = "filter_map")]
            pub fn try_map<U: ?Sized>(
                $($mutable)? this: Self,
                f: impl FnOnce(&$($mutable)? T) -> Option<&$($mutable)? U>,
            ) -> Result<$to<H, U>, Self> {
                match f(&$($mutable)? this).map(NonNull::from) {
                    Some(data) => Ok(this.turn(data)),
                    None => Err(this),
                }
            }
        }
    };
}

maps!(ReadGuard -> ReadGuard,);
maps!(WriteGuard -> MappedWriteGuard, #mut);
maps!(MappedWriteGuard -> MappedWriteGuard, #mut);

impl<H: Hold, T: ?Sized> WriteGuard<H, T> {
    /// Stays as a reader: nobody writes in between. Readers that wait go in beside it.
    pub fn downgrade(this: Self) -> ReadGuard<H, T> {
        let data = this.data;
        // Wakes others. If that panics, what is left of the hold is released.
        let guard: ReadGuard<H, T> = this.turn(data);
        guard.raw().downgrade();
        guard
    }

    /// Stays as the upgradable reader: nobody writes in between.
    pub fn downgrade_to_upgradable(this: Self) -> UpgradableGuard<H, T> {
        let data = this.data;
        // Wakes others. If that panics, what is left of the hold is released.
        let guard: UpgradableGuard<H, T> = this.turn(data);
        guard.raw().downgrade_to_upgradable();
        guard
    }
}

impl<H: Hold, T: ?Sized> UpgradableGuard<H, T> {
    /// The lock was upgraded.
    pub(super) fn into_write(self) -> WriteGuard<H, T> {
        let data = self.data;
        self.turn(data)
    }

    /// Writes, if no other reads; else the guard comes back.
    #[track_caller]
    pub fn try_upgrade(this: Self) -> Result<WriteGuard<H, T>, Self> {
        match this.raw().try_enter(Kind::Upgrade, Location::caller()) {
            Some(_) => Ok(this.into_write()),
            None => Err(this),
        }
    }

    /// Stays as a plain reader; another may read upgradably.
    pub fn downgrade(this: Self) -> ReadGuard<H, T> {
        let data = this.data;
        // Wakes others. If that panics, what is left of the hold is released.
        let guard: ReadGuard<H, T> = this.turn(data);
        guard.raw().upgradable_to_read();
        guard
    }
}

impl<H: Hold, T: ?Sized, W: Way> Deref for Guard<H, T, W> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held, so the data is there and not written by others.
        unsafe { self.data.as_ref() }
    }
}

impl<H: Hold, T: ?Sized, W: Exclusive> DerefMut for Guard<H, T, W> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held for writing, so nobody else has access.
        unsafe { self.data.as_mut() }
    }
}

impl<H: Hold, T: ?Sized, W: Way> Drop for Guard<H, T, W> {
    #[inline]
    fn drop(&mut self) {
        self.raw().release(W::KIND);
    }
}

impl<H: Hold, T: ?Sized + fmt::Debug, W: Way> fmt::Debug for Guard<H, T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<H: Hold, T: ?Sized + fmt::Display, W: Way> fmt::Display for Guard<H, T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
