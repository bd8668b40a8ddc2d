//! Waiting for the lock: named futures, each borrowed or owned by what it holds the lock through.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use raddle_base::wait::{WaitKind, Waiter};

use super::guard::{Guard, Hold, ReadGuard, UpgradableGuard, Way, WriteGuard};
use super::lock::RwLock;
use super::raw::RawRwLock;
use super::word::Kind;
use crate::owner::Held;

/// A reference to a lock: `&RwLock<T>` or `Arc<RwLock<T>>`. Not to be implemented elsewhere.
pub trait Lockable: Clone {
    /// What the lock protects.
    type Value: ?Sized;
    /// How guards hold the lock.
    type Hold: Hold;

    #[doc(hidden)]
    fn lock(&self) -> &RawRwLock;
    #[doc(hidden)]
    fn parts(self) -> (Self::Hold, NonNull<Self::Value>);
}

/// # Safety
///
/// The caller holds the lock in this way and leaves the release to the guard.
#[inline]
pub(super) unsafe fn guard<R: Lockable, W: Way>(
    lock: R,
    held: Held,
) -> Guard<R::Hold, R::Value, W> {
    let (hold, data) = lock.parts();
    Guard::new(hold, data, held)
}

impl<'a, T: ?Sized> Lockable for &'a RwLock<T> {
    type Value = T;
    type Hold = &'a RawRwLock;

    #[inline]
    fn lock(&self) -> &RawRwLock {
        &self.raw
    }

    #[inline]
    fn parts(self) -> (&'a RawRwLock, NonNull<T>) {
        (&self.raw, data_of(self))
    }
}

impl<T: ?Sized> Lockable for Arc<RwLock<T>> {
    type Value = T;
    type Hold = Arc<RwLock<T>>;

    #[inline]
    fn lock(&self) -> &RawRwLock {
        &self.raw
    }

    #[inline]
    fn parts(self) -> (Arc<RwLock<T>>, NonNull<T>) {
        let data = data_of(&self);
        (self, data)
    }
}

#[inline]
fn data_of<T: ?Sized>(lock: &RwLock<T>) -> NonNull<T> {
    // SAFETY: the cell's pointer is that of a field, so it is not null.
    unsafe { NonNull::new_unchecked(lock.data.get()) }
}

macro_rules! wait {
    ($(#[$doc:meta])* $name:ident, $guard:ident, $site:ident) => {
        $(#[$doc])*
        ///
        /// It contains the waiter's place in the queue, so it must be pinned to be polled and
        /// cannot be moved after.
        #[must_use = "futures do nothing unless awaited"]
        pub struct $name<R: Lockable> {
            lock: R,
            node: Waiter<Kind>,
        }

        impl<R: Lockable> $name<R> {
            #[inline]
            #[track_caller]
            pub(super) fn new(lock: R) -> Self {
                $name { lock, node: Waiter::new(WaitKind::$site, Kind::$name) }
            }
        }

        impl<R: Lockable> Future for $name<R> {
            type Output = $guard<R::Hold, R::Value>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                let this = self.into_ref().get_ref();
                // SAFETY: the node is pinned with the future that owns it, used with this lock and
                // kind only, and leaves when the future is dropped.
                unsafe {
                    let node = Pin::new_unchecked(&this.node);
                    let held = ready!(this.lock.lock().poll(node, Kind::$name, cx));
                    // The lock was just taken in this way.
                    Poll::Ready(guard(this.lock.clone(), held))
                }
            }
        }

        impl<R: Lockable> Drop for $name<R> {
            #[inline]
            fn drop(&mut self) {
                // SAFETY: as in `poll`; a future that was polled was pinned and did not move since.
                unsafe {
                    self.lock.lock().leave(Pin::new_unchecked(&self.node), Kind::$name);
                }
            }
        }

        impl<R: Lockable> fmt::Debug for $name<R> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut out = f.debug_struct(stringify!($name));
                out.field("waiter", &self.node).finish_non_exhaustive()
            }
        }
    };
}

wait! {
    /// The future of [`RwLock::read`] and [`RwLock::read_owned`].
    Read, ReadGuard, SharedLock
}
wait! {
    /// The future of [`RwLock::write`] and [`RwLock::write_owned`].
    Write, WriteGuard, Lock
}
wait! {
    /// The future of [`RwLock::upgradable_read`] and [`RwLock::upgradable_read_owned`].
    Upgradable, UpgradableGuard, SharedLock
}
