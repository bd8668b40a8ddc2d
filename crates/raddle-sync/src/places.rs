//! Places in a channel, reserved before there is a value: the wait for them, and their keeping.
//!
//! Every channel whose senders wait for room has the same family of futures and permits. Here is
//! what they do, once: [`Reserving`] waits, for one place or several, with a borrowed channel or a
//! sender of its own, and [`Held`] gives places back that are not used. What a place is, and who
//! gets one next, is the channel's business ([`Places`]). `places/names.rs` writes the public
//! names, `places/feed.rs` is the same as a sink, and `places/spoken.rs` counts places under a
//! lock.

pub(crate) mod feed;
pub(crate) mod names;
pub(crate) mod spoken;

use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, ready};

use raddle_base::wait::{WaitKind, Waiter};

/// A channel with places to be waited for.
pub(crate) trait Places {
    /// What stands in a waiter's node.
    type Need;
    type Value;
    type Error;

    /// The payload of an idle node, for so many places.
    fn need(count: usize) -> Self::Need;

    /// Waits for `count` places, first come first served, and spends the budget. Places of a wait
    /// that is ready are the caller's.
    ///
    /// # Safety
    ///
    /// The caller owns `node`, made with this [`need`](Self::need), uses it with this channel only,
    /// and calls [`leave_places`](Self::leave_places) before it goes away.
    unsafe fn poll_places(
        &self,
        node: Pin<&Waiter<Self::Need>>,
        count: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Self::Error>>;

    /// Leaves the line; places that were granted pass on.
    ///
    /// # Safety
    ///
    /// As for [`poll_places`](Self::poll_places).
    unsafe fn leave_places(&self, node: Pin<&Waiter<Self::Need>>, count: usize);

    /// Places that were held come back.
    fn return_places(&self, count: usize);

    /// Sends a value to a place that the caller holds.
    fn put(&self, value: Self::Value) -> Result<(), Self::Error>;

    /// The error of a sink that has no place.
    fn no_place() -> Self::Error;
}

/// What leads to a channel: a reference to it, or a sender.
pub(crate) trait Reach {
    type Chan: Places;

    fn chan(&self) -> &Self::Chan;
}

impl<C: Places> Reach for &C {
    type Chan = C;

    fn chan(&self) -> &C {
        self
    }
}

type Need<R> = <<R as Reach>::Chan as Places>::Need;
pub(crate) type ErrorOf<R> = <<R as Reach>::Chan as Places>::Error;

/// A wait for places.
pub(crate) struct Reserving<R: Reach> {
    /// `None` once the wait is over.
    to: Option<R>,
    count: usize,
    node: Waiter<Need<R>>,
}

impl<R: Reach> Reserving<R> {
    #[track_caller]
    pub(crate) fn new(to: R, count: usize) -> Self {
        let node = Waiter::new(WaitKind::Room, R::Chan::need(count));
        Reserving { to: Some(to), count, node }
    }
}

impl<R: Reach> Future for Reserving<R> {
    type Output = Result<Held<R>, ErrorOf<R>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the node is not moved out of it, and nothing else is pinned.
        let this = unsafe { self.get_unchecked_mut() };
        let chan = this.to.as_ref().expect("a reservation was polled after it was ready").chan();
        // SAFETY: the node is pinned with the future, and leaves when that is dropped.
        let node = unsafe { Pin::new_unchecked(&this.node) };
        // SAFETY: as above.
        let result = ready!(unsafe { chan.poll_places(node, this.count, cx) });
        let Some(to) = this.to.take() else { unreachable!("there was a channel to poll") };
        Poll::Ready(result.map(|()| Held { to, count: this.count }))
    }
}

impl<R: Reach> Drop for Reserving<R> {
    fn drop(&mut self) {
        if let Some(to) = &self.to {
            // SAFETY: as in `poll`; what was polled was pinned and did not move since.
            let node = unsafe { Pin::new_unchecked(&self.node) };
            // SAFETY: as above.
            unsafe { to.chan().leave_places(node, self.count) };
        }
    }
}

impl<R: Reach> fmt::Debug for Reserving<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Reserving");
        out.field("places", &self.count).field("waiter", &self.node).finish()
    }
}

/// Places that are held, and come back when this is dropped.
pub(crate) struct Held<R: Reach> {
    to: R,
    count: usize,
}

impl<R: Reach> Held<R> {
    /// Places that the caller took.
    pub(crate) fn new(to: R, count: usize) -> Self {
        Held { to, count }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn to(&self) -> &R {
        &self.to
    }

    /// What leads to the channel, whose places the caller has now.
    pub(crate) fn spend(self) -> R {
        let this = ManuallyDrop::new(self);
        // SAFETY: it is moved out once, and not dropped where it was.
        unsafe { ptr::read(&this.to) }
    }

    /// What leads to the channel, with the places given back.
    pub(crate) fn release(self) -> R {
        let count = self.count;
        let to = self.spend();
        to.chan().return_places(count);
        to
    }

    /// One of the places, if there are any left.
    pub(crate) fn split_one(&mut self) -> Option<Self>
    where
        R: Copy,
    {
        self.count = self.count.checked_sub(1)?;
        Some(Held { to: self.to, count: 1 })
    }
}

impl<R: Reach> Drop for Held<R> {
    fn drop(&mut self) {
        if self.count > 0 {
            self.to.chan().return_places(self.count);
        }
    }
}
