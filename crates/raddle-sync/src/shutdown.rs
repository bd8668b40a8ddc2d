//! Coordinated shutdown: one side asks, the others finish what they are at, and the asker waits.
//!
//! Two faces of the crowd in `crowd.rs`, where protocol and proof are: whether shutdown was
//! requested (the value is 0 or 1), and how many guards are alive.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use raddle_base::wait::WaitKind;

use crate::block_on::{block_on, wait_timeout};
use crate::crowd::stay::{Gather, Stay, named_future};
use crate::crowd::{Crowd, Step};

#[derive(Debug)]
struct Inner {
    requested: Requested,
    guards: Guards,
}

#[derive(Debug)]
struct Requested(Crowd);

impl Gather for Requested {
    fn crowd(&self) -> &Crowd {
        &self.0
    }

    fn is_over(requested: usize) -> bool {
        requested != 0
    }
}

#[derive(Debug)]
struct Guards(Crowd);

impl Gather for Guards {
    fn crowd(&self) -> &Crowd {
        &self.0
    }

    fn is_over(guards: usize) -> bool {
        guards == 0
    }
}

/// A reference to the request, of one's own.
struct RequestedOf(Arc<Inner>);

impl Deref for RequestedOf {
    type Target = Requested;

    fn deref(&self) -> &Requested {
        &self.0.requested
    }
}

/// A reference to the guards, of one's own.
struct GuardsOf(Arc<Inner>);

impl Deref for GuardsOf {
    type Target = Guards;

    fn deref(&self) -> &Guards {
        &self.0.guards
    }
}

impl Inner {
    fn is_requested(&self) -> bool {
        self.requested.0.value() != 0
    }

    fn request(&self) -> bool {
        let request = |requested| if requested == 0 { Step::Release(1) } else { Step::Keep };
        self.requested.0.step(request) == 0
    }
}

/// The side that asks for shutdown, and waits until all guards are gone. Clones are the same side.
///
/// Awaiting it requests, at the first poll, and then waits. The request is sticky.
///
/// * *Order.* All waits end in one round, woken in the order of their first poll.
/// * *Ordering.* What happened before the request is visible to those who see it, and what happened
///   before a guard was dropped is visible after the wait.
/// * *Cost.* Making the pair allocates once. Nothing else does.
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
        let (requested, guards) = (Requested(Crowd::new(0)), Guards(Crowd::new(1)));
        let inner = Arc::new(Inner { requested, guards });
        (Shutdown { inner: inner.clone() }, ShutdownGuard { watch: ShutdownWatch { inner } })
    }

    /// Asks for shutdown, and does not wait. True the first time.
    pub fn request_shutdown(&self) -> bool {
        self.inner.request()
    }

    /// Whether shutdown was requested.
    pub fn is_shutdown_requested(&self) -> bool {
        self.inner.is_requested()
    }

    /// How many guards are alive.
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
        let guards = Stay::new(GuardsOf(self.inner.clone()), WaitKind::Join);
        ShutdownWait { guards }
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
        f.debug_struct("Shutdown")
            .field("requested", &self.is_shutdown_requested())
            .field("guards", &self.guards())
            .finish()
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
        self.guards.of().0.request();
        // SAFETY: the only field is pinned with the whole, and not moved out of it.
        unsafe { self.map_unchecked_mut(|this| &mut this.guards) }.poll(cx)
    }
}

impl fmt::Debug for ShutdownWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ShutdownWait").field(&self.guards).finish()
    }
}

/// Keeps shutdown from being complete while it lives. Clones count on their own.
#[must_use = "shutdown may be complete as soon as this is dropped"]
pub struct ShutdownGuard {
    watch: ShutdownWatch,
}

impl ShutdownGuard {
    /// An observer that holds nothing up.
    pub fn watch(&self) -> ShutdownWatch {
        self.watch.clone()
    }

    /// An observer in place of this guard, which is gone.
    pub fn into_watch(self) -> ShutdownWatch {
        self.watch()
    }

    /// Whether shutdown was requested.
    pub fn is_shutdown_requested(&self) -> bool {
        self.watch.is_shutdown_requested()
    }

    /// Waits until shutdown is requested.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but its place in the order of wakes.
    #[track_caller]
    pub fn shutdown_requested(&self) -> ShutdownRequested<'_> {
        self.watch.shutdown_requested()
    }

    /// As [`shutdown_requested`](Self::shutdown_requested), with a reference of its own, which
    /// holds nothing up.
    #[track_caller]
    pub fn shutdown_requested_owned(&self) -> OwnedShutdownRequested {
        self.watch().shutdown_requested_owned()
    }
}

impl Clone for ShutdownGuard {
    fn clone(&self) -> Self {
        // The count cannot overflow: every guard holds a count of the `Arc` as well.
        self.watch.inner.guards.0.step(|guards| Step::To(guards + 1));
        ShutdownGuard { watch: self.watch() }
    }
}

impl Drop for ShutdownGuard {
    fn drop(&mut self) {
        self.watch.inner.guards.0.step(|guards| match guards {
            1 => Step::Release(0),
            _ => Step::To(guards - 1),
        });
    }
}

impl fmt::Debug for ShutdownGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ShutdownGuard").field(&self.watch).finish()
    }
}

/// Observes whether shutdown was requested, and holds nothing up.
#[derive(Clone)]
pub struct ShutdownWatch {
    inner: Arc<Inner>,
}

impl ShutdownWatch {
    /// Whether shutdown was requested.
    pub fn is_shutdown_requested(&self) -> bool {
        self.inner.is_requested()
    }

    /// Waits until shutdown is requested. See [`ShutdownGuard::shutdown_requested`].
    #[track_caller]
    pub fn shutdown_requested(&self) -> ShutdownRequested<'_> {
        ShutdownRequested(Stay::new(&self.inner.requested, WaitKind::Cancellation))
    }

    /// As [`shutdown_requested`](Self::shutdown_requested), with a reference of its own.
    #[track_caller]
    pub fn shutdown_requested_owned(self) -> OwnedShutdownRequested {
        OwnedShutdownRequested(Stay::new(RequestedOf(self.inner), WaitKind::Cancellation))
    }

    /// Blocks the thread until shutdown is requested.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_shutdown_requested(&self) {
        block_on(self.shutdown_requested());
    }

    /// As [`blocking_shutdown_requested`](Self::blocking_shutdown_requested) for at most `limit`;
    /// whether it was requested.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_shutdown_requested_timeout(&self, limit: Duration) -> bool {
        wait_timeout(self.shutdown_requested(), limit).is_some()
    }
}

impl fmt::Debug for ShutdownWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShutdownWatch").field("requested", &self.is_shutdown_requested()).finish()
    }
}

named_future! {
    /// The future of [`ShutdownGuard::shutdown_requested`] and of its like for the watch.
    ShutdownRequested<'a> = Stay<&'a Requested> => ()
}

named_future! {
    /// The future of [`ShutdownGuard::shutdown_requested_owned`] and of its like for the watch.
    OwnedShutdownRequested = Stay<RequestedOf> => ()
}

#[cfg(all(test, loom))]
#[path = "tests/shutdown_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/shutdown.rs"]
mod tests;
