//! A completion: one side gives a value, once, and any number of others read it in place.
//!
//! A face of the crowd in `crowd.rs`, where protocol and proof are. The value's two low bits are
//! the state, the others count the observers, so that one exchange decides whether a value that is
//! given finds anybody.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::shim::Arc;
use raddle_base::shim::cell::UnsafeCell;
use raddle_base::wait::WaitKind;

use crate::block_on::{block_on, wait_timeout};
use crate::crowd::stay::{Gather, Stay};
use crate::crowd::{Crowd, Step};

const PENDING: usize = 0;
const DONE: usize = 1;
const ABANDONED: usize = 2;
const STATE: usize = 0b11;
const OBSERVER: usize = 0b100;

/// Makes the two sides: one completes, the other and its clones observe.
///
/// * *Order.* All waits end in one round, woken in the order of their first poll.
/// * *Ordering.* Who sees the value sees all that was done before it was given. Looking is one
///   acquire load.
/// * *Cost.* Making the pair allocates once; the value lies there. Waiting does not allocate.
///
/// ```
/// use raddle_sync::{block_on, completion};
///
/// let (completer, observer) = completion::completion();
/// let other = observer.clone();
/// std::thread::spawn(move || completer.complete(42).unwrap());
/// assert_eq!(block_on(observer.wait()), Ok(&42));
/// assert_eq!(other.try_get(), Some(Ok(&42)));
/// ```
///
/// Many read the value at the same time, so it must be `Sync` to leave its thread:
///
/// ```compile_fail,E0277
/// fn send<T: Send>() {}
/// send::<raddle_sync::Completion<std::cell::Cell<u8>>>();
/// ```
pub fn completion<T>() -> (Completer<T>, Completion<T>) {
    let crowd = Crowd::new(OBSERVER | PENDING);
    let inner = Arc::new(Inner { crowd, value: UnsafeCell::new(MaybeUninit::uninit()) });
    (Completer { inner: inner.clone() }, Completion { inner })
}

struct Inner<T> {
    crowd: Crowd,
    /// Written by the completer while PENDING; initialised exactly in DONE.
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value is moved in on one thread and may be dropped on another.
unsafe impl<T: Send> Send for Inner<T> {}
// SAFETY: as above, and once written it is only shared.
unsafe impl<T: Send + Sync> Sync for Inner<T> {}

impl<T> Gather for Inner<T> {
    fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    fn is_over(value: usize) -> bool {
        value & STATE != PENDING
    }
}

impl<T> Inner<T> {
    fn try_get(&self) -> Option<Result<&T, Abandoned>> {
        match self.crowd.value() & STATE {
            PENDING => None,
            // SAFETY: DONE was acquired, so the value was written, and it does not change.
            DONE => Some(Ok(self.value.with(|value| unsafe { (*value).assume_init_ref() }))),
            _ => Some(Err(Abandoned(()))),
        }
    }
}

impl<T> Drop for Inner<T> {
    fn drop(&mut self) {
        if self.crowd.value() & STATE == DONE {
            // SAFETY: the value was written, and nobody reads it any more.
            unsafe { self.value.get_mut().assume_init_drop() };
        }
    }
}

/// The side that gives the value. Dropped without, it abandons the observers.
pub struct Completer<T> {
    inner: Arc<Inner<T>>,
}

impl<T> Completer<T> {
    /// Gives the value, and wakes everybody who waits for it.
    ///
    /// # Errors
    ///
    /// If no observer is left; the value comes back.
    pub fn complete(self, value: T) -> Result<(), T> {
        let inner = &self.inner;
        // SAFETY: the completer is alone with the place until it has left PENDING.
        inner.value.with_mut(|place| unsafe { (*place).write(value) });
        let before = inner.crowd.step(|value| match value / OBSERVER {
            0 => Step::Keep,
            _ => Step::Release(value | DONE),
        });
        match before / OBSERVER {
            // SAFETY: as above; the value was written and nobody else will take it.
            0 => Err(inner.value.with(|place| unsafe { (*place).assume_init_read() })),
            _ => Ok(()),
        }
    }

    /// Whether no observer is left.
    pub fn is_abandoned(&self) -> bool {
        self.inner.crowd.value() / OBSERVER == 0
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        self.inner.crowd.step(|value| match value & STATE {
            PENDING => Step::Release(value | ABANDONED),
            _ => Step::Keep,
        });
    }
}

impl<T> fmt::Debug for Completer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completer").field("is_abandoned", &self.is_abandoned()).finish()
    }
}

/// A side that observes the value. Clones observe the same.
pub struct Completion<T> {
    inner: Arc<Inner<T>>,
}

impl<T> Completion<T> {
    /// The value, or that there will be none; `None` while neither is known.
    #[inline]
    pub fn try_get(&self) -> Option<Result<&T, Abandoned>> {
        self.inner.try_get()
    }

    /// Waits for the value.
    ///
    /// # Errors
    ///
    /// If the completer was dropped without giving one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but its place in the order of wakes.
    #[track_caller]
    pub fn wait(&self) -> CompletionWait<'_, T> {
        CompletionWait { stay: Stay::new(&self.inner, WaitKind::Value) }
    }

    /// As [`wait`](Self::wait), with a reference of its own; gives this side back.
    #[track_caller]
    pub fn wait_owned(self) -> OwnedCompletionWait<T> {
        OwnedCompletionWait { stay: Stay::new(Observed(self), WaitKind::Value) }
    }

    /// Blocks the thread until the value is there.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`wait`](Self::wait) there.
    #[track_caller]
    pub fn blocking_wait(&self) -> Result<&T, Abandoned> {
        block_on(self.wait())
    }

    /// As [`blocking_wait`](Self::blocking_wait) for at most `limit`.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout(&self, limit: Duration) -> Option<Result<&T, Abandoned>> {
        wait_timeout(self.wait(), limit)
    }
}

impl<T> Clone for Completion<T> {
    fn clone(&self) -> Self {
        // The count cannot overflow: every observer holds a count of the `Arc` as well.
        self.inner.crowd.step(|value| Step::To(value + OBSERVER));
        Completion { inner: self.inner.clone() }
    }
}

impl<T> Drop for Completion<T> {
    fn drop(&mut self) {
        self.inner.crowd.step(|value| Step::To(value - OBSERVER));
    }
}

impl<T: fmt::Debug> fmt::Debug for Completion<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Completion").field(&self.try_get()).finish()
    }
}

/// The future of [`Completion::wait`].
#[must_use = "futures do nothing unless awaited"]
pub struct CompletionWait<'a, T> {
    stay: Stay<&'a Inner<T>>,
}

impl<'a, T> Future for CompletionWait<'a, T> {
    type Output = Result<&'a T, Abandoned>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let inner: &'a Inner<T> = self.stay.of();
        // SAFETY: the only field is pinned with the whole, and not moved out of it.
        ready!(unsafe { self.map_unchecked_mut(|this| &mut this.stay) }.poll(cx));
        Poll::Ready(inner.try_get().expect("the wait is over"))
    }
}

impl<T> fmt::Debug for CompletionWait<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CompletionWait").field(&self.stay).finish()
    }
}

/// An observer as a reference to what it observes.
struct Observed<T>(Completion<T>);

impl<T> Deref for Observed<T> {
    type Target = Inner<T>;

    fn deref(&self) -> &Inner<T> {
        &self.0.inner
    }
}

/// The future of [`Completion::wait_owned`].
#[must_use = "futures do nothing unless awaited"]
pub struct OwnedCompletionWait<T> {
    stay: Stay<Observed<T>>,
}

impl<T> Future for OwnedCompletionWait<T> {
    type Output = Result<Completion<T>, Abandoned>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the only field is pinned with the whole, and not moved out of it.
        ready!(unsafe { self.as_mut().map_unchecked_mut(|this| &mut this.stay) }.poll(cx));
        let observer = &self.stay.of().0;
        let result = observer.try_get().expect("the wait is over");
        Poll::Ready(result.map(|_| observer.clone()))
    }
}

impl<T> fmt::Debug for OwnedCompletionWait<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedCompletionWait").field(&self.stay).finish()
    }
}

/// The value will never be there: its completer was dropped without giving one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned(());

impl fmt::Display for Abandoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("abandoned without a value")
    }
}

impl Error for Abandoned {}

#[cfg(all(test, loom))]
#[path = "tests/completion_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/completion.rs"]
mod tests;
