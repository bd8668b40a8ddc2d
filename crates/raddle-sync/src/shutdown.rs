//! Coordinated shutdown: one side asks, the others finish what they are at, and the asker waits.
//!
//! The request is a cancellation token (`cancel.rs`), so that what is below another is asked with
//! it; how many guards are alive is the value of a crowd (`crowd.rs`). Both have protocol and proof
//! there. What is shared is in `shutdown/inner.rs`, the sides that are asked in
//! `shutdown/guard.rs`; here is the side that asks.
//!
//! A child holds one guard of the one above it, until its own last guard is gone: so whoever waits
//! above waits for all below. The child's last guard lets those go who wait for the child, then the
//! guard above.

mod guard;
mod inner;

use std::error::Error;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::wait::{WaitKind, WaitSite};

use crate::block_on::{block_on, wait_timeout};
use crate::crowd::stay::Stay;
use inner::{GuardsOf, Inner};

pub use guard::{OwnedShutdownRequested, ShutdownGuard, ShutdownRequested, ShutdownWatch};

/// The side that asks for shutdown, and waits until all guards are gone. Clones are the same side.
///
/// Awaiting it requests, at the first poll, and then waits. The request is sticky.
///
/// * *Children.* A [`child`](Self::child) is asked when the one above is asked, and can be asked
///   alone; whoever waits above waits for its guards too. Children that are
///   [waited for in order](Self::wait_in_stages) are stages.
/// * *Reasons.* The first reason that was given stays, and all sides can read it.
/// * *Order.* All waits end in one round, woken in the order of their first poll.
/// * *Ordering.* What happened before the request is visible to those who see it, and what happened
///   before a guard was dropped is visible after the wait.
/// * *Cost.* Making the pair, or a child, allocates twice, a reason once or twice. Nothing else
///   does.
///
/// ```
/// use raddle_sync::{Shutdown, block_on};
///
/// let (shutdown, guard) = Shutdown::new();
/// let worker = std::thread::spawn(move || {
///     block_on(guard.shutdown_requested());
///     // Finish what is at hand; the guard goes at the end.
/// });
/// block_on(shutdown);
/// worker.join().unwrap();
/// ```
#[derive(Clone)]
pub struct Shutdown {
    inner: Arc<Inner>,
}

impl Shutdown {
    /// The two sides. Clone the guard for more of them.
    pub fn new() -> (Shutdown, ShutdownGuard) {
        let hold = Inner::root();
        (Shutdown { inner: hold.0.clone() }, ShutdownGuard::new(hold))
    }

    /// The two sides of a part of what this one shuts down. It is asked when this one is, and this
    /// one is complete only when the part is. If all guards here are gone already, whoever waits
    /// here does not wait for the part.
    pub fn child(&self) -> (Shutdown, ShutdownGuard) {
        let hold = self.inner.child();
        (Shutdown { inner: hold.0.clone() }, ShutdownGuard::new(hold))
    }

    /// Asks for shutdown, and does not wait. True if nobody had.
    pub fn request_shutdown(&self) -> bool {
        self.inner.request(None)
    }

    /// As [`request_shutdown`](Self::request_shutdown), and says why: with an error of any type, or
    /// a text. The first reason stays; one that comes after the request is dropped.
    ///
    /// ```
    /// let (shutdown, guard) = raddle_sync::Shutdown::new();
    /// let (_part, part_guard) = shutdown.child();
    /// assert!(guard.request_shutdown_because("the disk is full"));
    /// assert!(!shutdown.request_shutdown_because("a signal"));
    /// assert_eq!(part_guard.reason().unwrap().to_string(), "the disk is full");
    /// ```
    pub fn request_shutdown_because(
        &self,
        reason: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> bool {
        self.inner.request(Some(reason.into()))
    }

    /// Whether shutdown was requested.
    pub fn is_shutdown_requested(&self) -> bool {
        self.inner.token.is_cancelled()
    }

    /// Why shutdown was requested, here or else above, if that was said.
    pub fn reason(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.inner.reason()
    }

    /// How many guards are alive; each child that is not complete counts as one.
    pub fn guards(&self) -> usize {
        self.inner.guards.0.value()
    }

    /// Requests, at the first poll, and waits until all guards are gone.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not take the request back.
    #[track_caller]
    pub fn wait(&self) -> ShutdownWait {
        self.wait_at(Location::caller())
    }

    fn wait_at(&self, location: &'static Location<'static>) -> ShutdownWait {
        let site = WaitSite { kind: WaitKind::Join, location };
        ShutdownWait { guards: Stay::at(GuardsOf(self.inner.clone()), site) }
    }

    /// Asks and waits for one stage after the other, and then for this one: no stage is asked
    /// before the one in front of it is complete. Stages are mostly children of this one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes no request back, and makes no other.
    ///
    /// ```
    /// use raddle_sync::{Shutdown, block_on};
    ///
    /// let (server, guard) = Shutdown::new();
    /// let (accepting, accepts) = server.child();
    /// let (storing, stores) = server.child();
    /// drop(guard);
    /// let stores = std::thread::spawn(move || {
    ///     block_on(stores.shutdown_requested());
    /// });
    /// assert!(!storing.is_shutdown_requested());
    /// drop(accepts);
    /// block_on(server.wait_in_stages([accepting, storing]));
    /// stores.join().unwrap();
    /// ```
    #[track_caller]
    pub fn wait_in_stages<I>(&self, stages: I) -> ShutdownStages<I::IntoIter>
    where
        I: IntoIterator<Item = Shutdown>,
    {
        let (stages, last) = (stages.into_iter(), Some(self.clone()));
        ShutdownStages { current: None, stages, last, place: Location::caller() }
    }

    /// Requests, and blocks the thread until all guards are gone.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`wait`](Self::wait) there.
    #[track_caller]
    pub fn blocking_wait(&self) {
        block_on(self.wait());
    }

    /// As [`blocking_wait`](Self::blocking_wait) for at most `limit`; whether all guards are gone.
    ///
    /// # Panics
    ///
    /// As [`blocking_wait`](Self::blocking_wait).
    #[track_caller]
    pub fn blocking_wait_timeout(&self, limit: Duration) -> bool {
        wait_timeout(self.wait(), limit).is_some()
    }
}

impl IntoFuture for Shutdown {
    type Output = ();
    type IntoFuture = ShutdownWait;

    #[track_caller]
    fn into_future(self) -> ShutdownWait {
        self.wait()
    }
}

impl fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// The future of [`Shutdown::wait`].
#[must_use = "futures do nothing unless awaited"]
pub struct ShutdownWait {
    guards: Stay<GuardsOf>,
}

impl Future for ShutdownWait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.guards.of().0.request(None);
        // SAFETY: the only field is pinned with the whole, and not moved out of it.
        unsafe { self.map_unchecked_mut(|this| &mut this.guards) }.poll(cx)
    }
}

impl fmt::Debug for ShutdownWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ShutdownWait").field(&self.guards).finish()
    }
}

/// The future of [`Shutdown::wait_in_stages`].
#[must_use = "futures do nothing unless awaited"]
pub struct ShutdownStages<I> {
    /// Pinned.
    current: Option<ShutdownWait>,
    stages: I,
    last: Option<Shutdown>,
    place: &'static Location<'static>,
}

impl<I: Iterator<Item = Shutdown>> Future for ShutdownStages<I> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: the wait is pinned with the whole: it is not moved, and dropped in place. The
        // iterator is not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        loop {
            if let Some(wait) = &mut this.current {
                // SAFETY: as above.
                ready!(unsafe { Pin::new_unchecked(wait) }.poll(cx));
                this.current = None;
            }
            let Some(next) = this.stages.next().or_else(|| this.last.take()) else {
                return Poll::Ready(());
            };
            this.current = Some(next.wait_at(this.place));
        }
    }
}

impl<I> fmt::Debug for ShutdownStages<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShutdownStages").field("current", &self.current).finish_non_exhaustive()
    }
}

#[cfg(all(test, loom))]
#[path = "tests/shutdown_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/shutdown.rs"]
mod tests;
