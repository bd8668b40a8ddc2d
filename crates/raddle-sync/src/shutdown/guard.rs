//! The sides that are asked: guards hold completion up, watches do not.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::inner::{Hold, Inner};
use crate::block_on::{block_on, wait_timeout};
use crate::cancel::{Cancelled, CancelledOwned};
use crate::crowd::stay::named_future;

/// Keeps shutdown from being complete while it lives. Clones count on their own.
#[derive(Clone)]
#[must_use = "shutdown may be complete as soon as this is dropped"]
pub struct ShutdownGuard {
    hold: Hold,
}

impl ShutdownGuard {
    pub(super) fn new(hold: Hold) -> Self {
        ShutdownGuard { hold }
    }

    /// An observer that holds nothing up.
    pub fn watch(&self) -> ShutdownWatch {
        ShutdownWatch { inner: self.hold.0.clone() }
    }

    /// An observer in place of this guard, which is gone.
    pub fn into_watch(self) -> ShutdownWatch {
        self.watch()
    }

    /// Asks for shutdown from this side, and does not wait; true if nobody had. This guard still
    /// counts.
    pub fn request_shutdown(&self) -> bool {
        self.hold.0.request(None)
    }

    /// As [`request_shutdown`](Self::request_shutdown), and says why. See
    /// [`Shutdown::request_shutdown_because`](super::Shutdown::request_shutdown_because).
    pub fn request_shutdown_because(
        &self,
        reason: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> bool {
        self.hold.0.request(Some(reason.into()))
    }

    /// Whether shutdown was requested.
    pub fn is_shutdown_requested(&self) -> bool {
        self.hold.0.token.is_cancelled()
    }

    /// Why shutdown was requested, if that was said.
    pub fn reason(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.hold.0.reason()
    }

    /// Waits until shutdown is requested.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but its place in the order of wakes.
    #[track_caller]
    pub fn shutdown_requested(&self) -> ShutdownRequested<'_> {
        ShutdownRequested(self.hold.0.token.cancelled())
    }

    /// As [`shutdown_requested`](Self::shutdown_requested), with a reference of its own, which
    /// holds nothing up.
    #[track_caller]
    pub fn shutdown_requested_owned(&self) -> OwnedShutdownRequested {
        self.watch().shutdown_requested_owned()
    }
}

impl fmt::Debug for ShutdownGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ShutdownGuard").field(&self.hold.0).finish()
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
        self.inner.token.is_cancelled()
    }

    /// Why shutdown was requested, if that was said.
    pub fn reason(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.inner.reason()
    }

    /// Waits until shutdown is requested. See [`ShutdownGuard::shutdown_requested`].
    #[track_caller]
    pub fn shutdown_requested(&self) -> ShutdownRequested<'_> {
        ShutdownRequested(self.inner.token.cancelled())
    }

    /// As [`shutdown_requested`](Self::shutdown_requested), with a reference of its own.
    #[track_caller]
    pub fn shutdown_requested_owned(self) -> OwnedShutdownRequested {
        OwnedShutdownRequested(self.inner.token.clone().cancelled_owned())
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
    ShutdownRequested<'a> = Cancelled<'a> => ()
}

named_future! {
    /// The future of [`ShutdownGuard::shutdown_requested_owned`] and of its like for the watch.
    OwnedShutdownRequested = CancelledOwned => ()
}
