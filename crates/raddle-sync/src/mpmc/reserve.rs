//! Places in a channel with a bound, reserved before there is a value: to send without waiting and
//! without failing.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_base::context;
use raddle_base::wait::{Waiter, WakeBatch};

use super::chan::{Chan, call, refusal};
use super::error::{SendError, TrySendError};
use super::sender::Sender;
use super::state::{Offer, SENDERS, SERVED, promise};
use crate::places::names::named_places;
use crate::places::{Held, Places, Reach, Reserving};
use crate::{block_on, wait_timeout};

named_places!(Sender<T>, Chan<T>, SendError<()>);

impl<T> Places for Chan<T> {
    type Need = Offer<T>;
    type Value = T;
    type Error = SendError<()>;

    fn need(count: usize) -> Offer<T> {
        Offer::places(count)
    }

    unsafe fn poll_places(
        &self,
        node: Pin<&Waiter<Offer<T>>>,
        count: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<()>>> {
        ready!(context::check_budget(cx));
        if !node.is_idle() {
            // SAFETY: passed on from the caller.
            let outcome = ready!(unsafe { self.queue.poll(node, cx) });
            context::spend();
            return Poll::Ready(match outcome {
                SERVED => Ok(()),
                _ => Err(self.refuse(())),
            });
        }
        loop {
            let error = match self.try_reserve(count) {
                Ok(()) => {
                    context::spend();
                    return Poll::Ready(Ok(()));
                }
                Err(TrySendError::Full(())) => None,
                Err(TrySendError::Closed(())) => Some(SendError::Closed(())),
                Err(TrySendError::Disconnected(())) => Some(SendError::Disconnected(())),
            };
            if let Some(error) = error {
                return Poll::Ready(Err(error));
            }
            // Foreign code (the clone): before the lock.
            let waker = cx.waker().clone();
            // SAFETY: passed on from the caller; the node is idle.
            if unsafe { self.wait_for_room(node, count, waker) } {
                return Poll::Pending;
            }
        }
    }

    unsafe fn leave_places(&self, node: Pin<&Waiter<Offer<T>>>, count: usize) {
        if node.is_idle() {
            return;
        }
        // SAFETY: passed on from the caller.
        if unsafe { self.leave(node, SENDERS) } == Some(SERVED) {
            self.return_places(count);
        }
    }

    fn return_places(&self, count: usize) {
        let mut queue = self.queue.lock();
        queue.shared().spoken.give_back(count);
        self.settle(queue, &mut WakeBatch::new());
    }

    fn put(&self, value: T) -> Result<(), SendError<()>> {
        self.send_reserved(value);
        Ok(())
    }

    fn no_place() -> SendError<()> {
        SendError::Closed(())
    }
}

impl<T> Chan<T> {
    /// Takes places for permits, if enough are free.
    fn try_reserve(&self, count: usize) -> Result<(), TrySendError<()>> {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        if !state.is_open() {
            return Err(refusal(state, ()).into());
        }
        if state.room() < count {
            return Err(TrySendError::Full(()));
        }
        state.spoken.hold(count);
        Ok(())
    }

    /// Sends a value to a reserved place. Without receivers the value is dropped.
    fn send_reserved(&self, value: T) {
        let mut queue = self.queue.lock();
        let state = queue.shared();
        state.spoken.give_back(1);
        if !state.has_receivers {
            drop(queue);
            return drop(value);
        }
        // SAFETY: it is a ring with as many slots as there are values and reserved places.
        unsafe { state.store.push(value) };
        let wake = promise(&mut queue);
        drop(queue);
        call(wake);
    }
}

impl<T> Reach for Sender<T> {
    type Chan = Chan<T>;

    fn chan(&self) -> &Chan<T> {
        &self.chan
    }
}

impl<T> Permit<'_, T> {
    /// Sends the value, without waiting. A channel that was closed since still gives it to a
    /// receiver; if all receivers are gone the value is dropped.
    pub fn send(self, value: T) {
        self.0.spend().send_reserved(value);
    }
}

impl<T> OwnedPermit<T> {
    /// Sends the value, and gives the sender back. See [`Permit::send`].
    pub fn send(self, value: T) -> Sender<T> {
        let sender = self.0.spend();
        sender.chan.send_reserved(value);
        sender
    }
}

impl<T> Sender<T> {
    /// Waits for room for one value, and reserves it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the place in line; a place already granted goes to the next.
    ///
    /// # Errors
    ///
    /// If the channel is closed or all receivers are gone.
    #[track_caller]
    pub fn reserve(&self) -> Reserve<'_, T> {
        Reserve(Reserving::new(&*self.chan, 1))
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
    /// If the channel is closed or all receivers are gone.
    ///
    /// # Panics
    ///
    /// If `count` is more than the channel's capacity: there would never be room.
    ///
    /// ```
    /// use raddle_sync::{block_on, mpmc};
    ///
    /// let (tx, rx) = mpmc::bounded(4);
    /// for (place, value) in block_on(tx.reserve_many(3)).unwrap().zip([1, 2, 3]) {
    ///     place.send(value);
    /// }
    /// assert_eq!(rx.len(), 3);
    /// ```
    #[track_caller]
    pub fn reserve_many(&self, count: usize) -> ReserveMany<'_, T> {
        self.check(count);
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
    /// If there is no room, the channel is closed or all receivers are gone.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.chan.try_reserve(1).map(|()| Permit(Held::new(&*self.chan, 1)))
    }

    /// Reserves room for `count` values if there is enough now and nobody waits for it.
    ///
    /// # Errors
    ///
    /// As [`try_reserve`](Self::try_reserve).
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
        self.chan.try_reserve(count).map(|()| PermitIterator(Held::new(&*self.chan, count)))
    }

    #[track_caller]
    fn check(&self, count: usize) {
        assert!(count <= self.capacity(), "more places than the channel has room for");
    }

    /// As [`try_reserve`](Self::try_reserve); the permit owns this sender, which comes back on
    /// error.
    ///
    /// # Errors
    ///
    /// As [`try_reserve`](Self::try_reserve).
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.chan.try_reserve(1) {
            Ok(()) => Ok(OwnedPermit(Held::new(self, 1))),
            Err(error) => Err(error.map(|()| self)),
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
}
