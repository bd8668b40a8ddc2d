//! Values that belong to a future: set around it, seen by all it calls while it is polled, on
//! whichever thread that is.
//!
//! The value lies in the future of [`LocalKey::scope`]. Each poll exchanges it with the slot of the
//! thread and back afterwards, by a guard, so that a panic does not leave it there.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

/// Declares values that belong to a task, or to any other future.
///
/// ```
/// # use raddle_runtime::{Config, Runtime, park::ThreadDrivers, task_local};
/// task_local! {
///     /// Whose request is being served.
///     static USER: String;
/// }
///
/// async fn greeting() -> String {
///     format!("hello {}", USER.get())
/// }
/// # let runtime = Runtime::new(Config::default(), Box::new(ThreadDrivers))?;
/// # runtime.run(async {
/// let served = USER.scope(String::from("Ada"), async { greeting().await });
/// assert_eq!(served.await, "hello Ada");
/// assert!(USER.try_with(String::len).is_err());
/// # });
/// # std::io::Result::Ok(())
/// ```
#[macro_export]
macro_rules! task_local {
    () => {};
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty; $($rest:tt)*) => {
        $crate::task_local!($(#[$attribute])* $vis static $name: $type);
        $crate::task_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty) => {
        $(#[$attribute])*
        $vis static $name: $crate::LocalKey<$type> = {
            ::std::thread_local! {
                static SLOT: ::std::cell::RefCell<::std::option::Option<$type>> =
                    const { ::std::cell::RefCell::new(::std::option::Option::None) };
            }
            $crate::LocalKey::new(&SLOT)
        };
    };
}

type Slot<T> = RefCell<Option<T>>;

/// A value that belongs to a future. Made by [`task_local!`](crate::task_local).
///
/// A spawned task is a future of its own: it does not see the values of the one that spawned it.
pub struct LocalKey<T: 'static> {
    slot: &'static thread::LocalKey<Slot<T>>,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(slot: &'static thread::LocalKey<Slot<T>>) -> LocalKey<T> {
        LocalKey { slot }
    }

    /// Runs `future`, which sees `value`; scopes nest. The value is dropped with the returned
    /// future, after `future`, whose destructor sees it too.
    pub fn scope<F: Future>(&'static self, value: T, future: F) -> TaskLocalFuture<T, F> {
        TaskLocalFuture { key: self, value: Some(value), future: Some(future) }
    }

    /// Runs `f`, which sees `value`.
    ///
    /// # Panics
    ///
    /// Inside a [`with`](Self::with) of the same key; and a panic of `f` is passed on.
    #[track_caller]
    pub fn sync_scope<R>(&'static self, value: T, f: impl FnOnce() -> R) -> R {
        let mut value = Some(value);
        let _inside = Inside::enter(self, &mut value);
        f()
    }

    /// Runs `f` with the value.
    ///
    /// # Panics
    ///
    /// Outside of a scope; [`try_with`](Self::try_with) is the other way.
    #[track_caller]
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }

    /// Runs `f` with the value.
    ///
    /// # Errors
    ///
    /// There is no value here: this is outside of a scope.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        let run = |slot: &Slot<T>| slot.borrow().as_ref().map(f);
        self.slot.try_with(run).ok().flatten().ok_or(AccessError(()))
    }

    /// A copy of the value.
    ///
    /// # Panics
    ///
    /// Outside of a scope.
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }
}

/// While this lives, the value is in the thread's slot, and what was there is in its place.
struct Inside<'a, T: 'static> {
    key: &'static LocalKey<T>,
    value: &'a mut Option<T>,
}

impl<'a, T: 'static> Inside<'a, T> {
    #[track_caller]
    fn enter(key: &'static LocalKey<T>, value: &'a mut Option<T>) -> Inside<'a, T> {
        let exchanged = key.slot.with(|slot| match slot.try_borrow_mut() {
            Ok(mut slot) => {
                mem::swap(&mut *slot, value);
                true
            }
            Err(_) => false,
        });
        assert!(exchanged, "a scope of a task-local value inside a `with` of the same value");
        Inside { key, value }
    }
}

impl<T: 'static> Drop for Inside<'_, T> {
    fn drop(&mut self) {
        // No borrow is left: those of `with` end with its closure, inside this scope. A thread
        // whose slot is gone is ending, and then its value is gone too.
        let _ = self.key.slot.try_with(|slot| mem::swap(&mut *slot.borrow_mut(), self.value));
    }
}

/// The future of [`LocalKey::scope`].
#[must_use = "futures do nothing unless awaited"]
pub struct TaskLocalFuture<T: 'static, F> {
    key: &'static LocalKey<T>,
    value: Option<T>,
    /// `None` once it was dropped, inside the scope.
    future: Option<F>,
}

impl<T: 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is pinned with the whole and never moved; `value` is not pinned.
        let (key, value, future) = unsafe {
            let this = self.get_unchecked_mut();
            (this.key, &mut this.value, Pin::new_unchecked(&mut this.future))
        };
        let _inside = Inside::enter(key, value);
        match future.as_pin_mut() {
            Some(future) => future.poll(cx),
            None => unreachable!("it is dropped with the whole"),
        }
    }
}

impl<T: 'static, F> Drop for TaskLocalFuture<T, F> {
    fn drop(&mut self) {
        // The future's destructor sees the value, unless this is inside a `with`.
        let is_free = |slot: &Slot<T>| slot.try_borrow_mut().is_ok();
        if mem::needs_drop::<F>() && self.key.slot.try_with(is_free).unwrap_or(false) {
            let _inside = Inside::enter(self.key, &mut self.value);
            self.future = None;
        }
    }
}

impl<T: fmt::Debug, F> fmt::Debug for TaskLocalFuture<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskLocalFuture").field("value", &self.value).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalKey")
    }
}

#[cfg(all(test, not(loom)))]
#[path = "tests/task_local.rs"]
mod tests;

/// A task-local value was asked for outside of its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessError(());

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no task-local value here: use it inside its `scope`")
    }
}

impl std::error::Error for AccessError {}
