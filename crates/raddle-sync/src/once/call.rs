//! The calls of a [`Once`]: run the code, or wait for it.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use raddle_base::wait::WaitKind;

use super::attempt::{Attempt, Attempted};
use super::core::Once;
use super::lead::Lead;
use crate::block_on::{block_on, wait_timeout};
use crate::crowd::stay::{Stay, named_future};

impl Once {
    /// Runs the future that `f` makes, unless it is done or somebody else does it first.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the attempt, and the next caller in line makes its own.
    #[track_caller]
    pub fn call_once<F, A>(&self, f: F) -> CallOnce<'_, F, A>
    where
        F: FnOnce() -> A,
        A: Future<Output = ()>,
    {
        CallOnce { attempt: Attempt::new(self, f) }
    }

    /// Waits until it is done, and does nothing for it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but its place in the order of wakes.
    #[track_caller]
    pub fn wait(&self) -> OnceWait<'_> {
        OnceWait(Stay::new(self, WaitKind::Event))
    }

    /// As [`wait`](Self::wait), with a reference of its own.
    #[track_caller]
    pub fn wait_owned(self: Arc<Self>) -> OwnedOnceWait {
        OwnedOnceWait(Stay::new(self, WaitKind::Event))
    }

    /// Runs `f` on this thread, unless it is done or somebody else does it first: then it blocks
    /// until that is over.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`call_once`](Self::call_once) there.
    #[track_caller]
    pub fn blocking_call_once(&self, f: impl FnOnce()) {
        if self.is_completed() {
            return;
        }
        if let Some(leading) = block_on(Lead::new(self)) {
            f();
            leading.complete();
        }
    }

    /// Blocks the thread until it is done.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`wait`](Self::wait) there.
    #[track_caller]
    pub fn blocking_wait(&self) {
        block_on(self.wait());
    }

    /// As [`blocking_wait`](Self::blocking_wait) for at most `limit`; whether it is done.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout(&self, limit: Duration) -> bool {
        wait_timeout(self.wait(), limit).is_some()
    }
}

/// The future of [`Once::call_once`].
#[must_use = "futures do nothing unless awaited"]
pub struct CallOnce<'a, F, A> {
    attempt: Attempt<'a, F, A>,
}

impl<F, A> Future for CallOnce<'_, F, A>
where
    F: FnOnce() -> A,
    A: Future<Output = ()>,
{
    type Output = ();

    fn poll(
        self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        // SAFETY: the only field is pinned with the whole, and not moved out of it.
        let attempt = unsafe { self.map_unchecked_mut(|this| &mut this.attempt) };
        attempt.poll(cx).map(|attempted| {
            if let Attempted::Mine((), leading) = attempted {
                leading.complete();
            }
        })
    }
}

impl<F, A> fmt::Debug for CallOnce<'_, F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallOnce").field(&self.attempt).finish()
    }
}

named_future! {
    /// The future of [`Once::wait`].
    OnceWait<'a> = Stay<&'a Once> => ()
}

named_future! {
    /// The future of [`Once::wait_owned`].
    OwnedOnceWait = Stay<Arc<Once>> => ()
}
