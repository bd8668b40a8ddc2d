//! Places in a channel with a bound, reserved before there is a value: to send without waiting and
//! without failing.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use raddle_base::wait::Waiter;

use super::chan::Chan;
use super::error::{SendError, TrySendError};
use super::kind::Bounded;
use super::sender::Sender;
use crate::permits::{Denied, Need};
use crate::places::names::named_places;
use crate::places::{Held, Places, Reach, Reserving};
use crate::{block_on, wait_timeout};

named_places!(Sender<T>, Chan<T, Bounded>, SendError<()>);

impl<T> Places for Chan<T, Bounded> {
    type Need = Need;
    type Value = T;
    type Error = SendError<()>;

    fn need(_: usize) -> Need {
        Need::none()
    }

    /// # Safety
    ///
    /// As in the trait.
    unsafe fn poll_places(
        &self,
        node: Pin<&Waiter<Need>>,
        count: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<()>>> {
        if count > self.capacity {
            return Poll::Ready(Err(SendError(())));
        }
        // SAFETY: passed on from the caller.
        let polled = unsafe { self.permits().poll_acquire(node, count, cx) };
        polled.map_err(|_| SendError(()))
    }

    /// # Safety
    ///
    /// As in the trait.
    #[inline]
    unsafe fn leave_places(&self, node: Pin<&Waiter<Need>>, count: usize) {
        if !node.is_idle() {
            // SAFETY: passed on from the caller.
            unsafe { self.leave_queue(node, count) };
        }
    }

    #[cold]
    fn return_places(&self, count: usize) {
        self.permits().give_back(count);
        self.places_returned();
    }

    fn put(&self, value: T) -> Result<(), SendError<()>> {
        self.send_held(value).map_err(|_| SendError(()))
    }

    fn no_place() -> SendError<()> {
        SendError(())
    }
}

impl<T> Chan<T, Bounded> {
    /// # Safety
    ///
    /// As for [`Places::poll_places`].
    #[cold]
    unsafe fn leave_queue(&self, node: Pin<&Waiter<Need>>, count: usize) {
        // SAFETY: passed on from the caller.
        unsafe { self.permits().cancel(node, count) };
        self.places_returned();
    }
}

impl<T> Reach for Sender<T> {
    type Chan = Chan<T, Bounded>;

    fn chan(&self) -> &Chan<T, Bounded> {
        &self.chan
    }
}

impl<T> Permit<'_, T> {
    /// Sends the value. A receiver that closed the channel still gets it; if the receiver is gone
    /// the value is dropped.
    pub fn send(self, value: T) {
        // Without a receiver the value is dropped, with nothing locked.
        drop(self.0.spend().send_held(value));
    }
}

impl<T> OwnedPermit<T> {
    /// Sends the value, and gives the sender back. See [`Permit::send`].
    pub fn send(self, value: T) -> Sender<T> {
        let sender = self.0.spend();
        drop(sender.chan.send_held(value));
        sender
    }
}

impl<T> Sender<T> {
    /// Waits for room for one value, and reserves it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the place in the queue; a place already granted goes to the
    /// next sender.
    ///
    /// # Errors
    ///
    /// If the receiver is closed or gone.
    #[track_caller]
    pub fn reserve(&self) -> Reserve<'_, T> {
        Reserve(Reserving::new(&*self.chan, 1))
    }

    /// Waits for room for `count` values at once, and reserves it.
    ///
    /// # Cancel safety
    ///
    /// As [`reserve`](Self::reserve), with all that was granted so far.
    ///
    /// # Errors
    ///
    /// If the receiver is closed or gone; at once, if `count` is more than the channel's capacity.
    #[track_caller]
    pub fn reserve_many(&self, count: usize) -> ReserveMany<'_, T> {
        ReserveMany(Reserving::new(&*self.chan, count))
    }

    /// As [`reserve`](Self::reserve); the permit owns this sender. On error, and if the future is
    /// dropped, the sender is dropped.
    #[track_caller]
    pub fn reserve_owned(self) -> ReserveOwned<T> {
        ReserveOwned(Reserving::new(self, 1))
    }

    /// Reserves room for one value if there is some now and nobody waits for it.
    ///
    /// # Errors
    ///
    /// If there is no room, or the receiver is closed or gone.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.take_places(1).map(|()| Permit(Held::new(&*self.chan, 1)))
    }

    /// Reserves room for `count` values if there is enough now and nobody waits for it.
    ///
    /// # Errors
    ///
    /// As [`try_reserve`](Self::try_reserve).
    pub fn try_reserve_many(
        &self,
        count: usize,
    ) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.take_places(count).map(|()| PermitIterator(Held::new(&*self.chan, count)))
    }

    /// As [`try_reserve`](Self::try_reserve); the permit owns this sender, which comes back on
    /// error.
    ///
    /// # Errors
    ///
    /// As [`try_reserve`](Self::try_reserve).
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.take_places(1) {
            Ok(()) => Ok(OwnedPermit(Held::new(self, 1))),
            Err(TrySendError::Full(())) => Err(TrySendError::Full(self)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(self)),
        }
    }

    /// As [`reserve`](Self::reserve), blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_reserve(&self) -> Result<Permit<'_, T>, SendError<()>> {
        block_on(self.reserve())
    }

    /// As [`reserve`](Self::reserve), blocking the thread for at most `limit`; nothing if that
    /// passed.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_reserve_timeout(
        &self,
        limit: Duration,
    ) -> Option<Result<Permit<'_, T>, SendError<()>>> {
        wait_timeout(self.reserve(), limit)
    }

    fn take_places(&self, count: usize) -> Result<(), TrySendError<()>> {
        self.chan.permits().try_acquire(count).map_err(|denied| match denied {
            Denied::NotNow => TrySendError::Full(()),
            Denied::Closed => TrySendError::Closed(()),
        })
    }
}
