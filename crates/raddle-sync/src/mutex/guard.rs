//! What holding a mutex means: a guard of all the data, which knows its mutex, or of a part of it.
//!
//! Both are generic over how the mutex is held: borrowed or through an `Arc`. The usual names are
//! aliases. A guard of a part holds a borrowed mutex without its data, and so forgets the type of
//! the whole.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::lock::Mutex;
use super::raw::RawMutex;
use crate::owner::Held;

/// A reference to a mutex: `&Mutex<T>` or `Arc<Mutex<T>>`. Not to be implemented elsewhere.
pub trait Lockable: Clone {
    /// What the mutex protects.
    type Value: ?Sized;
    /// How guards of parts hold the mutex.
    type Hold: Hold;

    #[doc(hidden)]
    fn raw(&self) -> &RawMutex;
    #[doc(hidden)]
    fn data(&self) -> *mut Self::Value;
    #[doc(hidden)]
    fn into_hold(self) -> Self::Hold;
}

impl<'a, T: ?Sized> Lockable for &'a Mutex<T> {
    type Value = T;
    type Hold = &'a RawMutex;

    #[inline]
    fn raw(&self) -> &RawMutex {
        &self.raw
    }

    #[inline]
    fn data(&self) -> *mut T {
        self.data.get()
    }

    #[inline]
    fn into_hold(self) -> &'a RawMutex {
        &self.raw
    }
}

impl<T: ?Sized> Lockable for Arc<Mutex<T>> {
    type Value = T;
    type Hold = Arc<Mutex<T>>;

    #[inline]
    fn raw(&self) -> &RawMutex {
        &self.raw
    }

    #[inline]
    fn data(&self) -> *mut T {
        self.data.get()
    }

    #[inline]
    fn into_hold(self) -> Arc<Mutex<T>> {
        self
    }
}

/// How a guard of a part holds its mutex. Not to be implemented elsewhere.
pub trait Hold {
    #[doc(hidden)]
    fn raw_mutex(&self) -> &RawMutex;
}

impl Hold for &RawMutex {
    #[inline]
    fn raw_mutex(&self) -> &RawMutex {
        self
    }
}

impl<T: ?Sized> Hold for Arc<Mutex<T>> {
    #[inline]
    fn raw_mutex(&self) -> &RawMutex {
        &self.raw
    }
}

/// The lock of a [`Mutex`] is held.
pub type MutexGuard<'a, T> = Guard<&'a Mutex<T>>;
/// The lock is held, with a reference to the mutex of its own.
pub type OwnedMutexGuard<T> = Guard<Arc<Mutex<T>>>;
/// The lock is held, with access to a part.
pub type MappedMutexGuard<'a, T> = MappedGuard<&'a RawMutex, T>;
/// The lock is held, with access to a part and a reference to the mutex of its own.
pub type OwnedMappedMutexGuard<T, U = T> = MappedGuard<Arc<Mutex<T>>, U>;

/// The lock is held. See [`MutexGuard`] and [`OwnedMutexGuard`].
///
/// It may be shared between threads only if what it protects may:
///
/// ```compile_fail,E0277
/// fn sync<T: Sync>(_: T) {}
/// let lock = raddle_sync::Mutex::new(std::cell::Cell::new(1));
/// sync(lock.try_lock());
/// ```
///
/// It is invariant in what it protects, or something short-lived could be put in:
///
/// ```compile_fail
/// fn shorter<'a>(guard: raddle_sync::MutexGuard<'a, &'static str>)
///     -> raddle_sync::MutexGuard<'a, &'a str> { guard }
/// ```
#[must_use = "the lock is released as soon as this is dropped"]
pub struct Guard<R: Lockable> {
    lock: R,
    held: Held,
    /// Neither `Send` nor `Sync` by itself.
    _data: PhantomData<*mut R::Value>,
}

// SAFETY: it gives exclusive access to the data. A reference that is `Send` leads to a mutex that
// is `Sync`, which asks for data that is `Send`.
unsafe impl<R: Lockable + Send> Send for Guard<R> {}
// SAFETY: it gives shared access to the data through a shared reference.
unsafe impl<R: Lockable<Value: Sync> + Sync> Sync for Guard<R> {}

impl<R: Lockable> Guard<R> {
    /// # Safety
    ///
    /// The caller holds the lock, and leaves the release to the guard.
    #[inline]
    pub(crate) unsafe fn new(lock: R, held: Held) -> Self {
        Guard { lock, held, _data: PhantomData }
    }

    /// A guard of a part, without a release in between.
    #[inline]
    fn into_part<U: ?Sized>(self, data: NonNull<U>) -> MappedGuard<R::Hold, U> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is forgotten, so each field is moved out exactly once.
        let (lock, held) = unsafe { (ptr::read(&this.lock), ptr::read(&this.held)) };
        MappedGuard::new(lock.into_hold(), data, held)
    }

    /// Where the lock lies.
    pub(crate) fn address(this: &Self) -> usize {
        ptr::from_ref(this.lock.raw()).addr()
    }

    /// The mutex.
    pub fn mutex(this: &Self) -> &R {
        &this.lock
    }

    /// A guard of a part of the data.
    #[inline]
    pub fn map<U: ?Sized>(
        mut this: Self,
        f: impl FnOnce(&mut R::Value) -> &mut U,
    ) -> MappedGuard<R::Hold, U> {
        let data = NonNull::from(f(&mut this));
        this.into_part(data)
    }

    /// A guard of a part of the data, if `f` finds it; else the guard comes back.
    #[doc(alias = "filter_map")]
    pub fn try_map<U: ?Sized>(
        mut this: Self,
        f: impl FnOnce(&mut R::Value) -> Option<&mut U>,
    ) -> Result<MappedGuard<R::Hold, U>, Self> {
        match f(&mut this).map(NonNull::from) {
            Some(data) => Ok(this.into_part(data)),
            None => Err(this),
        }
    }
}

impl<R: Lockable> Deref for Guard<R> {
    type Target = R::Value;

    #[inline]
    fn deref(&self) -> &R::Value {
        // SAFETY: the lock is held, so nobody else has access.
        unsafe { &*self.lock.data() }
    }
}

impl<R: Lockable> DerefMut for Guard<R> {
    #[inline]
    fn deref_mut(&mut self) -> &mut R::Value {
        // SAFETY: as in `deref`.
        unsafe { &mut *self.lock.data() }
    }
}

impl<R: Lockable> Drop for Guard<R> {
    #[inline]
    fn drop(&mut self) {
        self.lock.raw().unlock();
    }
}

impl<R: Lockable<Value: fmt::Debug>> fmt::Debug for Guard<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<R: Lockable<Value: fmt::Display>> fmt::Display for Guard<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The lock is held, with access to a part. See [`MappedMutexGuard`] and
/// [`OwnedMappedMutexGuard`].
#[must_use = "the lock is released as soon as this is dropped"]
pub struct MappedGuard<H: Hold, T: ?Sized> {
    hold: H,
    data: NonNull<T>,
    held: Held,
    _invariant: PhantomData<*mut T>,
}

// SAFETY: it gives exclusive access to the part, and releases the lock, which any thread may.
unsafe impl<H: Hold + Send, T: ?Sized + Send> Send for MappedGuard<H, T> {}
// SAFETY: it gives shared access to the part through a shared reference.
unsafe impl<H: Hold + Sync, T: ?Sized + Sync> Sync for MappedGuard<H, T> {}

impl<H: Hold, T: ?Sized> MappedGuard<H, T> {
    #[inline]
    fn new(hold: H, data: NonNull<T>, held: Held) -> Self {
        MappedGuard { hold, data, held, _invariant: PhantomData }
    }

    #[inline]
    fn into_part<U: ?Sized>(self, data: NonNull<U>) -> MappedGuard<H, U> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is forgotten, so each field is moved out exactly once.
        let (hold, held) = unsafe { (ptr::read(&this.hold), ptr::read(&this.held)) };
        MappedGuard::new(hold, data, held)
    }

    /// A guard of a part of the part.
    #[inline]
    pub fn map<U: ?Sized>(mut this: Self, f: impl FnOnce(&mut T) -> &mut U) -> MappedGuard<H, U> {
        let data = NonNull::from(f(&mut this));
        this.into_part(data)
    }

    /// A guard of a part of the part, if `f` finds it; else the guard comes back.
    #[doc(alias = "filter_map")]
    pub fn try_map<U: ?Sized>(
        mut this: Self,
        f: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<MappedGuard<H, U>, Self> {
        match f(&mut this).map(NonNull::from) {
            Some(data) => Ok(this.into_part(data)),
            None => Err(this),
        }
    }
}

impl<H: Hold, T: ?Sized> Deref for MappedGuard<H, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held, so the data is there and nobody else has access.
        unsafe { self.data.as_ref() }
    }
}

impl<H: Hold, T: ?Sized> DerefMut for MappedGuard<H, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`.
        unsafe { self.data.as_mut() }
    }
}

impl<H: Hold, T: ?Sized> Drop for MappedGuard<H, T> {
    #[inline]
    fn drop(&mut self) {
        self.hold.raw_mutex().unlock();
    }
}

impl<H: Hold, T: ?Sized + fmt::Debug> fmt::Debug for MappedGuard<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<H: Hold, T: ?Sized + fmt::Display> fmt::Display for MappedGuard<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
