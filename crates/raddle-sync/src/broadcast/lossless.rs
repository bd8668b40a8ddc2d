//! The channel that loses nothing: senders wait for the slowest receiver.

use std::time::Duration;

use raddle_base::shim::Arc;

use super::error::{SendError, TrySendError};
use super::mode::Lossless;
use super::permit::{OwnedPermit, Permit};
use super::place::{Reserve, ReserveOwned, Sending};
use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::{Denied, Shared};
use crate::{block_on, wait_timeout};

/// Makes a channel with room for `capacity` values, in which every receiver receives every value:
/// senders wait for room, which is made by the slowest receiver.
///
/// # Panics
///
/// If `capacity` is zero, or so large that there is no memory for it.
#[track_caller]
pub fn lossless_channel<T>(capacity: usize) -> (Sender<T, Lossless>, Receiver<T, Lossless>) {
    assert!(capacity > 0, "a broadcast channel needs room for at least one value");
    let sender = Sender::from_shared(Arc::new(Shared::new(capacity)));
    let receiver = sender.subscribe();
    (sender, receiver)
}

fn try_send_error<T>((denied, value): (Denied, T)) -> TrySendError<T> {
    match denied {
        Denied::Full => TrySendError::Full(value),
        Denied::Closed => TrySendError::Closed(value),
    }
}

impl<T> Sender<T, Lossless> {
    /// Sends a value to all receivers that there are then, waiting for room if there is none.
    /// Tells how many there are.
    ///
    /// Room is given first come first served; a receiver that neither receives nor is dropped
    /// holds all senders up.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the value was not sent, and is dropped with
    /// it. To keep the value, [`reserve`](Self::reserve) first.
    ///
    /// # Errors
    ///
    /// If there is no receiver, or the last one goes: the value comes back.
    #[inline]
    #[track_caller]
    pub fn send(&self, value: T) -> Sending<'_, T> {
        Sending::new(&self.shared, value)
    }

    /// Sends a value if there is room now and nobody waits for it. Tells how many will receive it.
    ///
    /// # Errors
    ///
    /// If there is no room, or no receiver: the value comes back.
    #[inline]
    pub fn try_send(&self, value: T) -> Result<usize, TrySendError<T>> {
        self.shared.try_send(value).map_err(try_send_error)
    }

    /// As [`send`](Self::send), blocking the thread while there is no room.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<usize, SendError<T>> {
        block_on(self.send(value))
    }

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
        Reserve::new(&self.shared)
    }

    /// As [`reserve`](Self::reserve), with a permit that has the sender.
    #[track_caller]
    pub fn reserve_owned(self) -> ReserveOwned<T> {
        ReserveOwned::new(self)
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
        match self.shared.try_hold() {
            Ok(()) => Ok(Permit::new(&self.shared)),
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
        match self.shared.try_hold() {
            Ok(()) => Ok(OwnedPermit::new(self)),
            Err(denied) => Err(try_send_error((denied, self))),
        }
    }

    /// Room that is free now. While senders wait there is none.
    pub fn capacity(&self) -> usize {
        self.shared.room()
    }
}
