//! The futures of [`LazyCell`]: wait for the lead or the end, and drive the cell's future.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::context;

use super::cell::{LazyCell, Stage};
use crate::block_on::{block_on, wait_timeout};
use crate::once::{Lead, Leading};

impl<A: Future, F: FnOnce() -> A> LazyCell<A, F> {
    /// The value, computed now if it is not there; for an initialiser that can be moved.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the initialiser as far as it got, for the next one who asks.
    ///
    /// # Panics
    ///
    /// The future panics if the initialiser panics or has panicked.
    #[track_caller]
    pub fn force(&self) -> Force<'_, A, F>
    where
        A: Unpin,
    {
        Pin::new(self).force_pin()
    }

    /// As [`force`](Self::force), for any initialiser.
    ///
    /// # Panics
    ///
    /// As for [`force`](Self::force).
    #[track_caller]
    pub fn force_pin(self: Pin<&Self>) -> Force<'_, A, F> {
        Force::new(self)
    }

    /// The value for writing, computed now if it is not there.
    ///
    /// # Cancel safety
    ///
    /// As for [`force`](Self::force).
    ///
    /// # Panics
    ///
    /// As for [`force`](Self::force).
    pub fn force_mut(&mut self) -> ForceMut<'_, A, F>
    where
        A: Unpin,
    {
        ForceMut { cell: Some(Pin::new(self)) }
    }

    /// As [`force_mut`](Self::force_mut), for any initialiser. The value itself is not pinned.
    ///
    /// # Panics
    ///
    /// As for [`force`](Self::force).
    pub fn force_pin_mut(self: Pin<&mut Self>) -> ForceMut<'_, A, F> {
        ForceMut { cell: Some(self) }
    }

    /// The value, computed now on this thread if it is not there.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task, and as for [`force`](Self::force).
    #[track_caller]
    pub fn blocking_force(self: Pin<&Self>) -> &A::Output {
        block_on(Force::new(self))
    }

    /// As [`blocking_force`](Self::blocking_force) for at most `limit`; the initialiser stays as
    /// far as it got.
    ///
    /// # Panics
    ///
    /// As for [`blocking_force`](Self::blocking_force).
    #[track_caller]
    pub fn blocking_force_timeout(self: Pin<&Self>, limit: Duration) -> Option<&A::Output> {
        wait_timeout(Force::new(self), limit)
    }
}

/// The future of [`LazyCell::force`] and [`LazyCell::force_pin`].
#[must_use = "futures do nothing unless awaited"]
pub struct Force<'a, A: Future, F> {
    cell: Pin<&'a LazyCell<A, F>>,
    leading: Option<Leading<'a>>,
    /// Pinned.
    lead: Lead<'a>,
}

impl<'a, A: Future, F> Force<'a, A, F> {
    #[track_caller]
    pub(super) fn new(cell: Pin<&'a LazyCell<A, F>>) -> Self {
        Force { cell, leading: None, lead: Lead::new(&cell.get_ref().once) }
    }
}

impl<'a, A: Future, F: FnOnce() -> A> Future for Force<'a, A, F> {
    type Output = &'a A::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<&'a A::Output> {
        // SAFETY: the lead is pinned with the whole, and not moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        let cell = this.cell.get_ref();
        ready!(context::check_budget(cx));
        if let Some(value) = cell.get() {
            context::spend();
            return Poll::Ready(value);
        }
        if this.leading.is_none() {
            // SAFETY: as above.
            match ready!(unsafe { Pin::new_unchecked(&mut this.lead) }.poll(cx)) {
                None => return Poll::Ready(value_or_panic(cell)),
                leading => this.leading = leading,
            }
        }
        let mut drive = Drive { cell, leading: &mut this.leading, armed: true };
        let polled = drive.poll(cx);
        drive.armed = false;
        let value = ready!(polled);
        let settle = Settle { leading: drive.leading.take(), poison: false };
        drop(drive);
        // SAFETY: the leader is alone with the stage. The future is dropped where it lies; if its
        // destructor panics, the stage holds the value all the same.
        cell.stage.with_mut(|stage| unsafe { *stage = Stage::Value(value) });
        drop(settle);
        Poll::Ready(value_or_panic(cell))
    }
}

/// The future of [`LazyCell::force_mut`] and [`LazyCell::force_pin_mut`].
#[must_use = "futures do nothing unless awaited"]
pub struct ForceMut<'a, A: Future, F> {
    /// None when it is over.
    cell: Option<Pin<&'a mut LazyCell<A, F>>>,
}

impl<'a, A: Future, F: FnOnce() -> A> Future for ForceMut<'a, A, F> {
    type Output = &'a mut A::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<&'a mut A::Output> {
        let cell = self.cell.as_ref().expect("a call was polled after its end");
        // Nobody else is there, so the lead is free at each poll, and given up after it.
        ready!(pin!(Force::new(cell.as_ref())).poll(cx));
        let cell = self.cell.take().expect("it was there above");
        // SAFETY: the future is gone; nothing that was pinned is moved.
        let cell = unsafe { cell.get_unchecked_mut() };
        Poll::Ready(cell.get_mut().expect("it was computed above"))
    }
}

impl<A: Future, F> fmt::Debug for ForceMut<'_, A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForceMut").finish_non_exhaustive()
    }
}

fn value_or_panic<A: Future, F>(cell: &LazyCell<A, F>) -> &A::Output {
    cell.get().expect("the initialiser of this LazyCell has panicked")
}

/// The leader at work. Poisons the cell if closure or future panic.
struct Drive<'s, 'a, A: Future, F> {
    cell: &'a LazyCell<A, F>,
    leading: &'s mut Option<Leading<'a>>,
    armed: bool,
}

impl<A: Future, F: FnOnce() -> A> Drive<'_, '_, A, F> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<A::Output> {
        self.cell.stage.with_mut(|stage| {
            // SAFETY: the leader is alone with the stage, and a started future is not moved.
            let stage = unsafe { &mut *stage };
            if let Stage::Start(make) = stage.take_start() {
                *stage = Stage::Future(make());
            }
            match stage {
                // SAFETY: the cell is pinned, or the future can be moved; see `force`.
                Stage::Future(future) => unsafe { Pin::new_unchecked(future) }.poll(cx),
                _ => unreachable!("a cell without value or poison has an initialiser"),
            }
        })
    }
}

impl<A: Future, F> Drop for Drive<'_, '_, A, F> {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        let _settle = Settle { leading: self.leading.take(), poison: true };
        // SAFETY: the leader is alone with the stage. The future is dropped where it lies.
        self.cell.stage.with_mut(|stage| unsafe { *stage = Stage::Empty });
    }
}

/// Ends the lead when dropped, also because the destructor of the future panicked.
struct Settle<'a> {
    leading: Option<Leading<'a>>,
    poison: bool,
}

impl Drop for Settle<'_> {
    fn drop(&mut self) {
        match self.leading.take() {
            Some(leading) if self.poison => leading.poison(),
            Some(leading) => leading.complete(),
            None => {}
        }
    }
}

impl<A: Future, F> fmt::Debug for Force<'_, A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Force")
            .field("leads", &self.leading.is_some())
            .field("lead", &self.lead)
            .finish()
    }
}
