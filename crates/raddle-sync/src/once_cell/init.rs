//! The futures of [`OnceCell`]: make the value, set it, wait for it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::context;
use raddle_base::wait::WaitKind;

use super::cell::OnceCell;
use crate::block_on::{block_on, wait_timeout};
use crate::crowd::stay::Stay;
use crate::once::{Attempt, Attempted, Lead, Once};

impl<T> OnceCell<T> {
    /// The value; made by the future that `f` makes, if nobody makes it before.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the initialiser, and the next one in line runs its own.
    #[track_caller]
    pub fn get_or_init<F, A>(&self, f: F) -> GetOrInit<'_, T, F, A>
    where
        F: FnOnce() -> A,
        A: Future<Output = T>,
    {
        GetOrInit::new(self, Attempt::new(&self.once, f))
    }

    /// As [`get_or_init`](Self::get_or_init), with an initialiser that may fail.
    ///
    /// # Errors
    ///
    /// Those of this caller's own initialiser; then the next one in line runs its own.
    #[track_caller]
    pub fn get_or_try_init<E, F, A>(&self, f: F) -> GetOrTryInit<'_, T, F, A>
    where
        F: FnOnce() -> A,
        A: Future<Output = Result<T, E>>,
    {
        GetOrTryInit::new(self, Attempt::new(&self.once, f))
    }

    /// Sets the value, after an initialiser that is under way has failed.
    ///
    /// # Errors
    ///
    /// If the cell has a value by then: that one, and the one that was to be set.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the value, and the cell is as it was.
    #[track_caller]
    pub fn try_insert(&self, value: T) -> TryInsert<'_, T> {
        TryInsert::new(self, value)
    }

    /// Waits until the value is there, and does nothing for it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but its place in the order of wakes.
    #[track_caller]
    pub fn wait(&self) -> OnceCellWait<'_, T> {
        OnceCellWait::new(self)
    }

    /// Blocks the thread until the value is there.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`wait`](Self::wait) there.
    #[track_caller]
    pub fn blocking_wait(&self) -> &T {
        block_on(self.wait())
    }

    /// As [`blocking_wait`](Self::blocking_wait) for at most `limit`.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout(&self, limit: Duration) -> Option<&T> {
        wait_timeout(self.wait(), limit)
    }
}

/// The future of [`OnceCell::get_or_init`].
#[must_use = "futures do nothing unless awaited"]
pub struct GetOrInit<'a, T, F, A> {
    cell: &'a OnceCell<T>,
    attempt: Attempt<'a, F, A>,
}

impl<'a, T, F, A> GetOrInit<'a, T, F, A> {
    pub(super) fn new(cell: &'a OnceCell<T>, attempt: Attempt<'a, F, A>) -> Self {
        GetOrInit { cell, attempt }
    }
}

impl<'a, T, F, A> Future for GetOrInit<'a, T, F, A>
where
    F: FnOnce() -> A,
    A: Future<Output = T>,
{
    type Output = &'a T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<&'a T> {
        let cell = self.cell;
        if let Some(value) = cell.get() {
            ready!(context::step(cx));
            return Poll::Ready(value);
        }
        // SAFETY: the attempt is pinned with the whole, and not moved out of it.
        let attempt = unsafe { self.map_unchecked_mut(|this| &mut this.attempt) };
        match ready!(attempt.poll(cx)) {
            Attempted::Mine(value, leading) => Poll::Ready(cell.write(value, leading)),
            Attempted::Over => Poll::Ready(cell.get().expect("the once is done")),
        }
    }
}

impl<T, F, A> fmt::Debug for GetOrInit<'_, T, F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GetOrInit").field(&self.attempt).finish()
    }
}

/// The future of [`OnceCell::get_or_try_init`].
#[must_use = "futures do nothing unless awaited"]
pub struct GetOrTryInit<'a, T, F, A> {
    cell: &'a OnceCell<T>,
    attempt: Attempt<'a, F, A>,
}

impl<'a, T, F, A> GetOrTryInit<'a, T, F, A> {
    pub(super) fn new(cell: &'a OnceCell<T>, attempt: Attempt<'a, F, A>) -> Self {
        GetOrTryInit { cell, attempt }
    }
}

impl<'a, T, E, F, A> Future for GetOrTryInit<'a, T, F, A>
where
    F: FnOnce() -> A,
    A: Future<Output = Result<T, E>>,
{
    type Output = Result<&'a T, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<&'a T, E>> {
        let cell = self.cell;
        if let Some(value) = cell.get() {
            ready!(context::step(cx));
            return Poll::Ready(Ok(value));
        }
        // SAFETY: the attempt is pinned with the whole, and not moved out of it.
        let attempt = unsafe { self.map_unchecked_mut(|this| &mut this.attempt) };
        Poll::Ready(match ready!(attempt.poll(cx)) {
            Attempted::Mine(Ok(value), leading) => Ok(cell.write(value, leading)),
            // The lead is dropped, and so passes on.
            Attempted::Mine(Err(error), _leading) => Err(error),
            Attempted::Over => Ok(cell.get().expect("the once is done")),
        })
    }
}

impl<T, F, A> fmt::Debug for GetOrTryInit<'_, T, F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GetOrTryInit").field(&self.attempt).finish()
    }
}

/// The future of [`OnceCell::try_insert`].
#[must_use = "futures do nothing unless awaited"]
pub struct TryInsert<'a, T> {
    cell: &'a OnceCell<T>,
    value: Option<T>,
    /// Pinned.
    lead: Lead<'a>,
}

impl<'a, T> TryInsert<'a, T> {
    #[track_caller]
    pub(super) fn new(cell: &'a OnceCell<T>, value: T) -> Self {
        TryInsert { cell, value: Some(value), lead: Lead::new(&cell.once) }
    }
}

impl<'a, T> Future for TryInsert<'a, T> {
    type Output = Result<&'a T, (&'a T, T)>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the lead is pinned with the whole, and not moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above.
        let leading = ready!(unsafe { Pin::new_unchecked(&mut this.lead) }.poll(cx));
        let value = this.value.take().expect("an insertion was polled after its end");
        Poll::Ready(match leading {
            Some(leading) => Ok(this.cell.write(value, leading)),
            None => Err((this.cell.get().expect("the once is done"), value)),
        })
    }
}

impl<T> fmt::Debug for TryInsert<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TryInsert").field(&self.lead).finish()
    }
}

/// The future of [`OnceCell::wait`].
#[must_use = "futures do nothing unless awaited"]
pub struct OnceCellWait<'a, T> {
    cell: &'a OnceCell<T>,
    /// Pinned.
    stay: Stay<&'a Once>,
}

impl<'a, T> OnceCellWait<'a, T> {
    #[track_caller]
    pub(super) fn new(cell: &'a OnceCell<T>) -> Self {
        OnceCellWait { cell, stay: Stay::new(&cell.once, WaitKind::Value) }
    }
}

impl<'a, T> Future for OnceCellWait<'a, T> {
    type Output = &'a T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<&'a T> {
        let cell = self.cell;
        // SAFETY: the stay is pinned with the whole, and not moved out of it.
        ready!(unsafe { self.map_unchecked_mut(|this| &mut this.stay) }.poll(cx));
        Poll::Ready(cell.get().expect("the once is done"))
    }
}

impl<T> fmt::Debug for OnceCellWait<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnceCellWait").field(&self.stay).finish()
    }
}
