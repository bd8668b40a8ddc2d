//! Waiting for an event: a named future, borrowed or owned, and a slot for code that polls.

use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_base::wait::{WaitKind, Waiter};

use super::core::Over;

/// The two kinds of events, for [`EventWait`] and [`EventSlot`]. Not to be implemented elsewhere.
pub trait Event {
    /// # Safety
    ///
    /// The caller owns `node`, uses it with this event only, and leaves before it goes away.
    #[doc(hidden)]
    unsafe fn poll_node(&self, node: Pin<&Waiter<bool>>, cx: &mut Context<'_>) -> Poll<()>;

    /// # Safety
    ///
    /// As for `poll_node`.
    #[doc(hidden)]
    unsafe fn enable_node(&self, node: Pin<&Waiter<bool>>) -> bool;

    /// # Safety
    ///
    /// As for `poll_node`.
    #[doc(hidden)]
    unsafe fn leave_node(&self, node: Pin<&Waiter<bool>>);
}

/// The future of an event's `wait` (`R` is a reference) and `wait_owned` (`R` is an `Arc`).
///
/// It contains the waiter's place in the queue, so it must be pinned to be polled and cannot be
/// moved after:
///
/// ```compile_fail,E0277
/// fn movable<T: Unpin>(_: T) {}
/// let event = raddle_sync::ManualResetEvent::new();
/// movable(event.wait());
/// ```
#[must_use = "futures do nothing unless awaited"]
pub struct EventWait<R: Deref<Target: Event>> {
    event: R,
    /// Dropped by hand, after its leaving, which has looked already whether it waits.
    node: ManuallyDrop<Waiter<Over>>,
}

impl<R: Deref<Target: Event>> EventWait<R> {
    #[inline]
    #[track_caller]
    pub(super) fn new(event: R) -> Self {
        EventWait { event, node: ManuallyDrop::new(Waiter::new(WaitKind::Event, false)) }
    }

    /// Joins the queue without waiting; true if the wait is over already.
    ///
    /// After this a set reaches the future as if it had been polled: enable, then look at the
    /// condition, then await, and nothing is missed.
    pub fn enable(self: Pin<&mut Self>) -> bool {
        let this = self.into_ref().get_ref();
        // SAFETY: the node is pinned with the future that owns it, and leaves on drop.
        unsafe { this.event.enable_node(Pin::new_unchecked(&*this.node)) }
    }
}

impl<R: Deref<Target: Event>> Future for EventWait<R> {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.into_ref().get_ref();
        // SAFETY: as in `enable`.
        unsafe { this.event.poll_node(Pin::new_unchecked(&*this.node), cx) }
    }
}

impl<R: Deref<Target: Event>> Drop for EventWait<R> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `enable`; a future that was polled was pinned and did not move since.
        unsafe { self.event.leave_node(Pin::new_unchecked(&*self.node)) };
        // SAFETY: it has left, and this is its end.
        unsafe { Waiter::retire(&mut self.node) };
    }
}

impl<R: Deref<Target: Event>> fmt::Debug for EventWait<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventWait").field("waiter", &*self.node).finish_non_exhaustive()
    }
}

/// A waiter's place for an event's `poll_wait`, for futures written by hand. Good for any number
/// of waits for one event, one after the other.
///
/// A wait that has begun goes on from poll to poll until it is over or the slot is dropped, which
/// gives it up as dropping the future would.
///
/// ```
/// use std::pin::pin;
/// use std::task::{Context, Waker};
/// use raddle_sync::{AutoResetEvent, EventSlot};
///
/// let event = AutoResetEvent::new();
/// let mut slot = pin!(EventSlot::new(&event));
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(slot.as_mut().poll_wait(&mut cx).is_pending());
/// event.set();
/// assert!(slot.as_mut().poll_wait(&mut cx).is_ready());
/// assert!(slot.poll_wait(&mut cx).is_pending());
/// ```
pub struct EventSlot<'a, E: Event> {
    wait: EventWait<&'a E>,
}

impl<'a, E: Event> EventSlot<'a, E> {
    /// A place for waits for `event`.
    #[track_caller]
    pub fn new(event: &'a E) -> Self {
        EventSlot { wait: EventWait::new(event) }
    }

    /// Whether this is a place for `event`.
    #[inline]
    pub(super) fn is_for(&self, event: &E) -> bool {
        std::ptr::eq(self.wait.event, event)
    }

    /// Waits for the event. After `Ready` the next poll begins a new wait.
    #[inline]
    pub fn poll_wait(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: the only field is pinned with the whole.
        unsafe { self.map_unchecked_mut(|slot| &mut slot.wait) }.poll(cx)
    }

    /// Joins the queue without waiting; true if the wait is over. See [`EventWait::enable`].
    pub fn enable(self: Pin<&mut Self>) -> bool {
        // SAFETY: as in `poll_wait`.
        unsafe { self.map_unchecked_mut(|slot| &mut slot.wait) }.enable()
    }
}

impl<E: Event> fmt::Debug for EventSlot<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSlot").field("waiter", &*self.wait.node).finish()
    }
}
