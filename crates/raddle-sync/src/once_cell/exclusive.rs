//! The futures of a [`OnceCell`] that is borrowed exclusively: nobody else is there to wait for.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::cell::OnceCell;

impl<T> OnceCell<T> {
    /// The value for writing, made by the future that `f` makes if it is not there.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the initialiser and leaves the cell empty.
    pub fn get_mut_or_init<F, A>(&mut self, f: F) -> GetMutOrInit<'_, T, F, A>
    where
        F: FnOnce() -> A,
        A: Future<Output = T>,
    {
        GetMutOrInit { make: Make::new(self, f) }
    }

    /// As [`get_mut_or_init`](Self::get_mut_or_init), with an initialiser that may fail.
    ///
    /// # Errors
    ///
    /// Those of the initialiser; the cell stays empty.
    pub fn get_mut_or_try_init<E, F, A>(&mut self, f: F) -> GetMutOrTryInit<'_, T, F, A>
    where
        F: FnOnce() -> A,
        A: Future<Output = Result<T, E>>,
    {
        GetMutOrTryInit { make: Make::new(self, f) }
    }
}

/// The cell, and what fills it.
struct Make<'a, T, F, A> {
    /// None when it is over.
    cell: Option<&'a mut OnceCell<T>>,
    start: Option<F>,
    /// Pinned.
    running: Option<A>,
}

impl<'a, T, F, A> Make<'a, T, F, A>
where
    F: FnOnce() -> A,
    A: Future,
{
    fn new(cell: &'a mut OnceCell<T>, f: F) -> Self {
        Make { cell: Some(cell), start: Some(f), running: None }
    }

    /// Ready with what the initialiser gave, or at once if the value is there.
    fn poll(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<(&'a mut OnceCell<T>, Option<A::Output>)> {
        // SAFETY: what runs is pinned with the whole: it is not moved, and dropped in place.
        let this = unsafe { self.get_unchecked_mut() };
        let filled = this.cell.as_ref().expect("a call was polled after its end").is_initialized();
        let output = match filled {
            true => None,
            false => {
                if let Some(make) = this.start.take() {
                    this.running = Some(make());
                }
                let running = this.running.as_mut().expect("a call was polled after a panic");
                // SAFETY: as above.
                let output = ready!(unsafe { Pin::new_unchecked(running) }.poll(cx));
                this.running = None;
                Some(output)
            }
        };
        Poll::Ready((this.cell.take().expect("it was there above"), output))
    }
}

fn fill<T>(cell: &mut OnceCell<T>, value: Option<T>) -> &mut T {
    if let Some(value) = value {
        *cell = OnceCell::from_value(value);
    }
    cell.get_mut().expect("it was set above")
}

/// The future of [`OnceCell::get_mut_or_init`].
#[must_use = "futures do nothing unless awaited"]
pub struct GetMutOrInit<'a, T, F, A> {
    make: Make<'a, T, F, A>,
}

impl<'a, T, F, A> Future for GetMutOrInit<'a, T, F, A>
where
    F: FnOnce() -> A,
    A: Future<Output = T>,
{
    type Output = &'a mut T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<&'a mut T> {
        // SAFETY: the only field is pinned with the whole, and not moved out of it.
        let make = unsafe { self.map_unchecked_mut(|this| &mut this.make) };
        make.poll(cx).map(|(cell, value)| fill(cell, value))
    }
}

impl<T, F, A> fmt::Debug for GetMutOrInit<'_, T, F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GetMutOrInit").finish_non_exhaustive()
    }
}

/// The future of [`OnceCell::get_mut_or_try_init`].
#[must_use = "futures do nothing unless awaited"]
pub struct GetMutOrTryInit<'a, T, F, A> {
    make: Make<'a, T, F, A>,
}

impl<'a, T, E, F, A> Future for GetMutOrTryInit<'a, T, F, A>
where
    F: FnOnce() -> A,
    A: Future<Output = Result<T, E>>,
{
    type Output = Result<&'a mut T, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<&'a mut T, E>> {
        // SAFETY: the only field is pinned with the whole, and not moved out of it.
        let make = unsafe { self.map_unchecked_mut(|this| &mut this.make) };
        make.poll(cx).map(|(cell, output)| Ok(fill(cell, output.transpose()?)))
    }
}

impl<T, F, A> fmt::Debug for GetMutOrTryInit<'_, T, F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GetMutOrTryInit").finish_non_exhaustive()
    }
}
