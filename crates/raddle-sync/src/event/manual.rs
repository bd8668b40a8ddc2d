//! The event that stays set: a gate that lets everybody pass until it is reset.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use raddle_base::wait::Waiter;

use super::core::Core;
use super::wait::{Event, EventSlot, EventWait};
use crate::block_on::{block_on, wait_timeout};

/// A gate: once set, everybody passes, until it is reset.
///
/// [`is_set`](Self::is_set), [`try_wait`](Self::try_wait) and a wait that finds the event set are
/// one load, and take no lock; [`set`](Self::set) and [`reset`](Self::reset) are one atomic
/// exchange while nobody waits. Waiting does not allocate. What happened before a set, also one
/// that finds the event set already, is visible to whoever sees it: to those who passed, and after
/// a `reset` that takes it back. 16 bytes.
///
/// All who wait are released together, woken in the order of their first poll, and their release
/// cannot be taken back: `set` followed by `reset` lets exactly those pass who waited at the time.
///
/// ```
/// use raddle_sync::{ManualResetEvent, block_on};
///
/// static READY: ManualResetEvent = ManualResetEvent::new();
///
/// std::thread::spawn(|| READY.set());
/// block_on(READY.wait());
/// assert!(READY.is_set());
/// assert!(READY.reset());
/// assert!(!READY.try_wait());
/// ```
pub struct ManualResetEvent {
    core: Core<false>,
}

impl ManualResetEvent {
    raddle_base::const_unless_loom! {
        /// An event that is not set.
        pub const fn new() -> Self {
            ManualResetEvent::with_state(false)
        }

        /// An event that is set, or not.
        pub const fn with_state(set: bool) -> Self {
            ManualResetEvent { core: Core::new(set) }
        }
    }

    /// Sets the event and releases everybody who waits.
    #[inline]
    pub fn set(&self) {
        self.core.set();
    }

    /// Unsets the event; true if it was set. Nobody who was released before is held back.
    #[inline]
    pub fn reset(&self) -> bool {
        self.core.reset()
    }

    /// Whether the event is set. What happened before that is visible then.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.core.is_set()
    }

    /// The same as [`is_set`](Self::is_set): passing does not change the event.
    #[inline]
    pub fn try_wait(&self) -> bool {
        self.core.try_wait()
    }

    /// Waits until the event is set. The wait begins at the first poll, or by
    /// [`EventWait::enable`]: a set and reset before that are not noticed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but its place among those who wait.
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

impl Event for ManualResetEvent {
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

impl Default for ManualResetEvent {
    /// Not set.
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ManualResetEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.fmt(f)
    }
}
