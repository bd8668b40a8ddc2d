//! The event that resets itself: a turnstile that lets one pass for each set.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use raddle_base::wait::Waiter;

use super::core::Core;
use super::wait::{Event, EventSlot, EventWait};
use crate::block_on::{block_on, wait_timeout};

/// A turnstile: each set lets one waiter pass, or is stored for the next to come.
///
/// One signal can be stored; a set that finds one adds nothing to it, but publishes all the same:
/// what happened before any set is visible to whoever takes the signal. While somebody waits,
/// successive sets serve successive waiters, first come first served, from their first poll on. A
/// signal that was assigned to a wait belongs to it, polled or not: a newcomer cannot steal it,
/// [`reset`](Self::reset) does not reach it, and [`is_set`](Self::is_set) does not show it.
///
/// Looking, taking, setting and resetting are one atomic operation each while nobody waits, and
/// waiting does not allocate. 16 bytes.
///
/// ```
/// use raddle_sync::{AutoResetEvent, block_on};
///
/// static WORK: AutoResetEvent = AutoResetEvent::new();
///
/// WORK.set();
/// WORK.set();
/// block_on(WORK.wait());
/// assert!(!WORK.try_wait(), "two sets without a wait between are one");
/// ```
pub struct AutoResetEvent {
    core: Core<true>,
}

impl AutoResetEvent {
    raddle_base::const_unless_loom! {
        /// An event that is not set.
        pub const fn new() -> Self {
            AutoResetEvent::with_state(false)
        }

        /// An event that is set, or not.
        pub const fn with_state(set: bool) -> Self {
            AutoResetEvent { core: Core::new(set) }
        }
    }

    /// Lets the one pass who has waited longest, or stores the signal if nobody waits.
    #[inline]
    pub fn set(&self) {
        self.core.set();
    }

    /// Drops a stored signal; true if there was one.
    #[inline]
    pub fn reset(&self) -> bool {
        self.core.reset()
    }

    /// Whether a signal is stored. What happened before the set is visible then.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.core.is_set()
    }

    /// Takes the stored signal, if there is one.
    #[inline]
    pub fn try_wait(&self) -> bool {
        self.core.try_wait()
    }

    /// Takes the stored signal, or waits for one, first come first served from the first poll on.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up its place. A signal that it had been assigned passes on to the
    /// next waiter, or is stored.
    #[inline]
    #[track_caller]
    pub fn wait(&self) -> EventWait<&Self> {
        EventWait::new(self)
    }

    /// As [`wait`](Self::wait), with a reference of its own.
    #[track_caller]
    pub fn wait_owned(self: Arc<Self>) -> EventWait<Arc<Self>> {
        EventWait::new(self)
    }

    /// As [`wait`](Self::wait), for a future written by hand, which keeps the slot pinned. The same
    /// as [`EventSlot::poll_wait`].
    ///
    /// # Panics
    ///
    /// If the slot is one for another event.
    #[inline]
    #[track_caller]
    pub fn poll_wait<'a>(
        &'a self,
        slot: Pin<&mut EventSlot<'a, Self>>,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        assert!(slot.is_for(self), "a slot was used with an event that it was not made for");
        slot.poll_wait(cx)
    }

    /// Blocks this thread until the wait is over. See [`wait`](Self::wait).
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task: use [`wait`](Self::wait) there.
    #[track_caller]
    pub fn blocking_wait(&self) {
        block_on(self.wait());
    }

    /// As [`blocking_wait`](Self::blocking_wait), for at most `limit`; false if that passed first,
    /// which gives the wait up.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_wait_timeout(&self, limit: Duration) -> bool {
        wait_timeout(self.wait(), limit).is_some()
    }
}

impl Event for AutoResetEvent {
    #[inline]
    unsafe fn poll_node(&self, node: Pin<&Waiter<bool>>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: passed on from the caller.
        unsafe { self.core.poll(node, cx) }
    }

    unsafe fn enable_node(&self, node: Pin<&Waiter<bool>>) -> bool {
        // SAFETY: passed on from the caller.
        unsafe { self.core.enable(node) }
    }

    #[inline]
    unsafe fn leave_node(&self, node: Pin<&Waiter<bool>>) {
        // SAFETY: passed on from the caller.
        unsafe { self.core.leave(node) };
    }
}

impl Default for AutoResetEvent {
    /// Not set.
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for AutoResetEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.fmt(f)
    }
}
