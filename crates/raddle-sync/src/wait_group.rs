//! A wait group: as many handles as there are pieces of work, and whoever waits for the last one.
//!
//! A face of the crowd in `crowd.rs`, where protocol and proof are. The value is the number of
//! handles.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::sync::Arc;
use std::time::Duration;

use raddle_base::wait::WaitKind;

use crate::block_on::{block_on, wait_timeout};
use crate::crowd::stay::{Gather, Stay};
use crate::crowd::{Crowd, Step};

/// Waits until all of its clones are gone. A clone is a piece of work; dropping it finishes that.
///
/// Awaiting a handle finishes it first, so that several who all await do not wait for each other.
/// The group is over once, when the last handle has gone, and cannot be opened again; use a
/// [`TaskTracker`](crate::TaskTracker) for that.
///
/// * *Order.* All waits end in one round, woken in the order of their first poll.
/// * *Ordering.* What happened before a handle was dropped is visible after the wait.
/// * *Cost.* Making a group allocates once. Cloning and dropping are one exchange each, and take no
///   lock but for the last one if somebody waits. Waiting does not allocate.
///
/// ```
/// use raddle_sync::{WaitGroup, block_on};
///
/// let group = WaitGroup::new();
/// for _ in 0..4 {
///     let work = group.clone();
///     std::thread::spawn(move || drop(work));
/// }
/// block_on(group);
/// ```
pub struct WaitGroup {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    crowd: Crowd,
}

impl Gather for Inner {
    fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    fn is_over(handles: usize) -> bool {
        handles == 0
    }
}

impl WaitGroup {
    /// A group with one handle.
    pub fn new() -> Self {
        WaitGroup { inner: Arc::new(Inner { crowd: Crowd::new(1) }) }
    }

    /// Handles that are alive now, this one among them.
    pub fn count(&self) -> usize {
        self.inner.crowd.value()
    }

    /// A future that ends when all handles are gone, and holds none itself: for observers.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but its place in the order of wakes.
    #[track_caller]
    pub fn watch(&self) -> WaitGroupFuture {
        WaitGroupFuture { stay: Stay::new(self.inner.clone(), WaitKind::Event) }
    }

    /// Finishes this handle, at once, and waits for the others. The same as awaiting it.
    #[track_caller]
    pub fn wait(self) -> WaitGroupFuture {
        self.watch()
    }

    /// Finishes this handle and blocks the thread until the others are gone.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: await it there.
    #[track_caller]
    pub fn blocking_wait(self) {
        block_on(self.wait());
    }

    /// As [`blocking_wait`](Self::blocking_wait) for at most `limit`; whether the others are gone.
    /// The handle is finished in either case.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout(self, limit: Duration) -> bool {
        wait_timeout(self.wait(), limit).is_some()
    }
}

impl Default for WaitGroup {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for WaitGroup {
    /// One piece of work more.
    fn clone(&self) -> Self {
        // The count cannot overflow: every handle holds a count of the `Arc` as well.
        self.inner.crowd.step(|handles| Step::To(handles + 1));
        WaitGroup { inner: self.inner.clone() }
    }
}

impl Drop for WaitGroup {
    fn drop(&mut self) {
        self.inner.crowd.step(|handles| match handles {
            1 => Step::Release(0),
            _ => Step::To(handles - 1),
        });
    }
}

impl IntoFuture for WaitGroup {
    type Output = ();
    type IntoFuture = WaitGroupFuture;

    #[track_caller]
    fn into_future(self) -> WaitGroupFuture {
        self.wait()
    }
}

impl fmt::Debug for WaitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitGroup").field("count", &self.count()).finish_non_exhaustive()
    }
}

/// The future of a [`WaitGroup`]. Its clones wait for the same group, each on its own.
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct WaitGroupFuture {
    stay: Stay<Arc<Inner>>,
}

impl Clone for WaitGroupFuture {
    #[track_caller]
    fn clone(&self) -> Self {
        WaitGroupFuture { stay: Stay::new(self.stay.of().clone(), WaitKind::Event) }
    }
}

impl Future for WaitGroupFuture {
    type Output = ();

    fn poll(
        self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        // SAFETY: the only field is pinned with the whole, and not moved out of it.
        unsafe { self.map_unchecked_mut(|this| &mut this.stay) }.poll(cx)
    }
}

#[cfg(all(test, not(loom)))]
#[path = "tests/wait_group.rs"]
mod tests;
