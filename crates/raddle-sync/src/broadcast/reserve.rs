//! Room that is reserved before there is a value, where senders wait: to send without waiting.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::context;
use raddle_base::wait::Waiter;

use super::error::{SendError, TrySendError};
use super::lossless::try_send_error;
use super::mode::Lossless;
use super::sender::Sender;
use super::shared::{Shared, Wanted};
use crate::places::names::named_places;
use crate::places::{Held, Places, Reach, Reserving};
use crate::{block_on, wait_timeout};

named_places!(Sender<T, Lossless>, Shared<T>, SendError<()>);

impl<T> Places for Shared<T> {
    type Need = Wanted;
    type Value = T;
    type Error = SendError<()>;

    fn need(count: usize) -> Wanted {
        count
    }

    unsafe fn poll_places(
        &self,
        node: Pin<&Waiter<Wanted>>,
        count: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<()>>> {
        ready!(context::check_budget(cx));
        // SAFETY: passed on from the caller.
        let result = ready!(unsafe { self.poll_hold(node, count, cx) });
        context::spend();
        Poll::Ready(result.map_err(|_| SendError(())))
    }

    unsafe fn leave_places(&self, node: Pin<&Waiter<Wanted>>, count: usize) {
        // SAFETY: passed on from the caller.
        unsafe { self.leave_line(node, count) };
    }

    fn return_places(&self, count: usize) {
        Shared::return_places(self, count);
    }

    fn put(&self, value: T) -> Result<(), SendError<()>> {
        self.send_held(value).map(drop).map_err(|_| SendError(()))
    }

    fn no_place() -> SendError<()> {
        SendError(())
    }
}

impl<T> Reach for Sender<T, Lossless> {
    type Chan = Shared<T>;

    fn chan(&self) -> &Shared<T> {
        &self.chan
    }
}

impl<T> Permit<'_, T> {
    /// Sends the value to all receivers that there are now, and tells how many.
    ///
    /// # Errors
    ///
    /// If there is no receiver: the value comes back.
    pub fn send(self, value: T) -> Result<usize, SendError<T>> {
        self.0.spend().send_held(value).map_err(SendError)
    }
}

impl<T> OwnedPermit<T> {
    /// Sends the value to all receivers that there are now, and gives the sender back.
    ///
    /// # Errors
    ///
    /// If there is no receiver: the value comes back, and the sender is dropped.
    pub fn send(self, value: T) -> Result<Sender<T, Lossless>, SendError<T>> {
        let sender = self.0.spend();
        sender.chan.send_held(value).map_err(SendError)?;
        Ok(sender)
    }
}

impl<T> Sender<T, Lossless> {
    /// Waits for room for one value, and reserves it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the place in the line; room already granted goes to the next
    /// sender.
    ///
    /// # Errors
    ///
    /// If there is no receiver, or the last one goes.
    #[track_caller]
    pub fn reserve(&self) -> Reserve<'_, T> {
        Reserve(Reserving::new(self.chan.chan(), 1))
    }

    /// Waits for room for `count` values at once, and reserves it. Meanwhile what becomes free is
    /// gathered for it, and nobody behind it is served.
    ///
    /// # Cancel safety
    ///
    /// As [`reserve`](Self::reserve), with all that was gathered so far.
    ///
    /// # Errors
    ///
    /// If there is no receiver, or the last one goes.
    ///
    /// # Panics
    ///
    /// If `count` is more than the channel's capacity: there would never be room.
    #[track_caller]
    pub fn reserve_many(&self, count: usize) -> ReserveMany<'_, T> {
        self.check(count);
        ReserveMany(Reserving::new(self.chan.chan(), count))
    }

    /// Reserves room for `count` values if there is enough now and nobody waits for it.
    ///
    /// # Errors
    ///
    /// If there is no room, or no receiver.
    ///
    /// # Panics
    ///
    /// If `count` is more than the channel's capacity.
    #[track_caller]
    pub fn try_reserve_many(
        &self,
        count: usize,
    ) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.check(count);
        match self.chan.try_hold(count) {
            Ok(()) => Ok(PermitIterator(Held::new(self.chan.chan(), count))),
            Err(denied) => Err(try_send_error((denied, ()))),
        }
    }

    #[track_caller]
    fn check(&self, count: usize) {
        assert!(count <= self.max_capacity(), "more places than the channel has room for");
    }

    /// As [`reserve`](Self::reserve), with a permit that has the sender. On error, and if the
    /// future is dropped, the sender is dropped.
    #[track_caller]
    pub fn reserve_owned(self) -> ReserveOwned<T> {
        ReserveOwned(Reserving::new(self, 1))
    }

    /// As [`reserve`](Self::reserve), blocking the thread while there is no room.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_reserve(&self) -> Result<Permit<'_, T>, SendError<()>> {
        block_on(self.reserve())
    }

    /// As [`blocking_reserve`](Self::blocking_reserve) for at most `limit`; nothing if it passed.
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

    /// Reserves room for one value if there is some now and nobody waits for it.
    ///
    /// # Errors
    ///
    /// If there is no room, or no receiver.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        match self.chan.try_hold(1) {
            Ok(()) => Ok(Permit(Held::new(self.chan.chan(), 1))),
            Err(denied) => Err(try_send_error((denied, ()))),
        }
    }

    /// As [`try_reserve`](Self::try_reserve), with a permit that has the sender, which comes back
    /// with an error.
    ///
    /// # Errors
    ///
    /// As [`try_reserve`](Self::try_reserve).
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.chan.try_hold(1) {
            Ok(()) => Ok(OwnedPermit(Held::new(self, 1))),
            Err(denied) => Err(try_send_error((denied, self))),
        }
    }
}
