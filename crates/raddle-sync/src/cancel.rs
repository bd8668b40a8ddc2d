//! Cancellation: a token that asks work to stop, and all work below it.
//!
//! Cancellation is a request. Who waits with a token stops waiting; what was completed before
//! stays completed. Tokens form a tree: cancelling one cancels its children, not its parent. How
//! the tree is kept and freed is in `cancel/node.rs`.

mod node;
mod wait;

use std::fmt;
use std::future::{Future, IntoFuture};
use std::panic::{RefUnwindSafe, UnwindSafe};

pub use wait::{CancelError, CancelOn, Cancelled, CancelledOwned, RunUntilCancelled};

use node::NodeRef;

/// Asks work to stop. Clones are the same token; [`child_token`](Self::child_token) makes one
/// that is cancelled with this one, or alone.
///
/// Making a token allocates once; waiting does not, and asking is one load. Dropping tokens
/// cancels nothing; see [`drop_guard`](Self::drop_guard) for that.
///
/// ```
/// use raddle_sync::{CancelExt, CancellationToken, block_on};
///
/// let token = CancellationToken::new();
/// let child = token.child_token();
/// let worker = std::thread::spawn(move || {
///     block_on(std::future::pending::<()>().cancel_on(&child)).is_err()
/// });
/// token.cancel();
/// assert!(worker.join().unwrap());
/// ```
#[derive(Clone)]
pub struct CancellationToken {
    node: NodeRef,
}

impl UnwindSafe for CancellationToken {}
impl RefUnwindSafe for CancellationToken {}

impl CancellationToken {
    /// A token without a parent.
    pub fn new() -> Self {
        CancellationToken { node: NodeRef::root() }
    }

    /// A token that is cancelled when this one is. If this one is cancelled, so is the child.
    pub fn child_token(&self) -> Self {
        CancellationToken { node: self.node.child() }
    }

    /// Cancels this token and all below it, and wakes who waits for that.
    ///
    /// On return all of them are cancelled, unless another thread is cancelling a part of the tree
    /// at the same time and is not through yet. If a waker panics, everything is still cancelled
    /// and everybody woken, then the panic goes on.
    pub fn cancel(&self) {
        self.node.cancel();
    }

    /// As [`cancel`](Self::cancel), and whether this call did it.
    pub(crate) fn cancel_first(&self) -> bool {
        self.node.cancel()
    }

    /// Whether this token is cancelled. What happened before that is visible then.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.node.is_cancelled()
    }

    /// Waits until this token is cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    #[track_caller]
    pub fn cancelled(&self) -> Cancelled<'_> {
        Cancelled::new(&self.node)
    }

    /// As [`cancelled`](Self::cancelled), with a reference of its own.
    #[track_caller]
    pub fn cancelled_owned(self) -> CancelledOwned {
        CancelledOwned::new(self.node)
    }

    /// Runs a future until it is done, or until this token is cancelled: `None` then.
    ///
    /// If both have happened, the future's output counts. See [`CancelExt::cancel_on`].
    #[track_caller]
    pub fn run_until_cancelled<F: IntoFuture>(
        &self,
        future: F,
    ) -> RunUntilCancelled<'_, F::IntoFuture> {
        RunUntilCancelled::new(future.into_future(), &self.node)
    }

    /// A guard that cancels this token when it is dropped.
    pub fn drop_guard(self) -> DropGuard {
        DropGuard { token: Some(self) }
    }

    /// A guard that borrows this token, and cancels it when it is dropped.
    pub fn drop_guard_ref(&self) -> DropGuardRef<'_> {
        DropGuardRef { token: Some(self) }
    }
}

impl Default for CancellationToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationToken").field("cancelled", &self.is_cancelled()).finish()
    }
}

/// Cancels its token when dropped.
#[derive(Debug)]
#[must_use = "the token is cancelled as soon as this is dropped"]
pub struct DropGuard {
    /// `None` once disarmed.
    token: Option<CancellationToken>,
}

impl DropGuard {
    /// Gives the token back uncancelled.
    pub fn disarm(mut self) -> CancellationToken {
        self.token.take().expect("a guard holds its token until it is disarmed")
    }
}

impl Drop for DropGuard {
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            token.cancel();
        }
    }
}

/// Cancels a borrowed token when dropped.
#[derive(Debug)]
#[must_use = "the token is cancelled as soon as this is dropped"]
pub struct DropGuardRef<'a> {
    /// `None` once disarmed.
    token: Option<&'a CancellationToken>,
}

impl<'a> DropGuardRef<'a> {
    /// Gives the token back uncancelled.
    pub fn disarm(mut self) -> &'a CancellationToken {
        self.token.take().expect("a guard holds its token until it is disarmed")
    }
}

impl Drop for DropGuardRef<'_> {
    fn drop(&mut self) {
        if let Some(token) = self.token {
            token.cancel();
        }
    }
}

/// Lets any future end when a token is cancelled.
pub trait CancelExt: Future + Sized {
    /// This future, or [`CancelError`] if `token` is cancelled first.
    ///
    /// * A token that was cancelled beforehand leaves the future unpolled: what it waits for is
    ///   not touched.
    /// * When both have happened by the time of a poll, the output counts.
    /// * Cancellation consumes nothing: the future is dropped with the combinator, and primitives
    ///   of this crate pass on what a dropped wait had been granted.
    #[track_caller]
    fn cancel_on(self, token: &CancellationToken) -> CancelOn<'_, Self> {
        CancelOn::new(self, &token.node)
    }
}

impl<F: Future> CancelExt for F {}

#[cfg(all(test, loom))]
#[path = "tests/cancel_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/cancel.rs"]
mod tests;
