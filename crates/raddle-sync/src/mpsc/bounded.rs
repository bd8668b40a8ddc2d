//! The channel with a bound: senders wait for room.

use super::chan::Chan;
use super::error::{SendError, TrySendError};
use super::kind::Bounded;
use super::permit::{Permit, PermitIterator};
use super::receive::Receiver;
use super::reserve::{Reserve, ReserveMany, Sending};
use super::sender::Sender;
use crate::block_on;
use crate::permits::{Denied, Permits};

/// The largest bound of a channel.
pub const MAX_CAPACITY: usize = Permits::<Bounded>::MAX;

/// Makes a channel with room for `buffer` values.
///
/// # Panics
///
/// If `buffer` is zero, or more than
/// [`MAX_CAPACITY`].
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    assert!(buffer > 0, "a bounded channel needs room for at least one value");
    assert!(buffer <= MAX_CAPACITY, "the bound of a channel is too large");
    channel_at(buffer, 0)
}

/// As [`channel`], with `first` as the first position: the start of a block.
pub(super) fn channel_at<T>(buffer: usize, first: usize) -> (Sender<T>, Receiver<T>) {
    let chan = Chan::new(buffer, first);
    (Sender { chan: chan.clone() }, Receiver::new(chan))
}

impl<T> Sender<T> {
    pub(super) fn chan(&self) -> &Chan<T, Bounded> {
        &self.chan
    }

    /// Sends a value, waiting for room if there is none.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the value was not sent, and is dropped with
    /// it. To keep the value, [`reserve`](Self::reserve) first.
    ///
    /// # Errors
    ///
    /// If the receiver is closed or gone: the value comes back.
    #[track_caller]
    #[inline]
    pub fn send(&self, value: T) -> Sending<'_, T> {
        Sending::new(&self.chan, value)
    }

    /// Sends a value if there is room now and nobody waits for it.
    ///
    /// # Errors
    ///
    /// If there is no room, or the receiver is closed or gone: the value comes back.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.chan.try_send(value).map_err(|(denied, value)| match denied {
            Denied::NotNow => TrySendError::Full(value),
            Denied::Closed => TrySendError::Closed(value),
        })
    }

    /// Sends a value, blocking the thread while there is no room. Errors as [`send`](Self::send).
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        block_on(self.send(value))
    }

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
        Reserve::new(&self.chan)
    }

    /// Waits for room for `count` values at once, and reserves it. Fails at once if that is more
    /// than the channel's capacity.
    #[track_caller]
    pub fn reserve_many(&self, count: usize) -> ReserveMany<'_, T> {
        ReserveMany::new(&self.chan, count)
    }

    /// Reserves room for one value if there is some now.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.take_places(1).map(|()| Permit::new(&self.chan))
    }

    /// Reserves room for `count` values if there is enough now.
    pub fn try_reserve_many(
        &self,
        count: usize,
    ) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.take_places(count).map(|()| PermitIterator::new(&self.chan, count))
    }

    pub(super) fn take_places(&self, count: usize) -> Result<(), TrySendError<()>> {
        self.chan.permits().try_acquire(count).map_err(|denied| match denied {
            Denied::NotNow => TrySendError::Full(()),
            Denied::Closed => TrySendError::Closed(()),
        })
    }

    /// Room that is free now. While senders wait there is none.
    pub fn capacity(&self) -> usize {
        self.chan.permits().available()
    }

    /// The room that the channel was made with.
    pub fn max_capacity(&self) -> usize {
        self.chan.capacity
    }
}
