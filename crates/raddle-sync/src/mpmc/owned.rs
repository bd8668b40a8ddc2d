//! Places that own the sender they were reserved with, for tasks that outlive the borrow.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_base::shim::cell::UnsafeCell;

use super::error::{SendError, TrySendError};
use super::reserve::Place;
use super::sender::Sender;

impl<T> Sender<T> {
    /// As [`reserve`](Self::reserve); the permit owns this sender. On error the sender is dropped.
    #[track_caller]
    pub fn reserve_owned(self) -> ReserveOwned<T> {
        ReserveOwned { sender: UnsafeCell::new(Some(self)), place: Place::new() }
    }

    /// As [`try_reserve`](Self::try_reserve); the permit owns this sender, which comes back on
    /// error.
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.chan().try_reserve() {
            Ok(()) => Ok(OwnedPermit { sender: Some(self) }),
            Err(error) => Err(error.map(|()| self)),
        }
    }
}

/// A wait for a place that owns its sender. Cancel safety as of [`Reserve`](super::Reserve).
#[must_use = "futures do nothing unless awaited"]
pub struct ReserveOwned<T> {
    /// Touched by the future only. `None` once the permit has it.
    sender: UnsafeCell<Option<Sender<T>>>,
    place: Place<T>,
}

// SAFETY: a shared reference to this gives no access to the sender.
unsafe impl<T: Send> Sync for ReserveOwned<T> {}

impl<T> Future for ReserveOwned<T> {
    type Output = Result<OwnedPermit<T>, SendError<()>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        this.sender.with_mut(|slot| {
            // SAFETY: the future alone touches the sender, and is polled by one thread at a time.
            let slot = unsafe { &mut *slot };
            let sender = slot.as_ref().expect("a reservation was polled after it was ready");
            // SAFETY: the place is pinned with the future, and left when that is dropped.
            let result = ready!(unsafe { this.place.poll(sender.chan(), cx) });
            let sender = slot.take();
            Poll::Ready(result.map(|()| OwnedPermit { sender }))
        })
    }
}

impl<T> Drop for ReserveOwned<T> {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.get_mut() {
            // SAFETY: as in `poll`.
            unsafe { self.place.leave(sender.chan()) };
        }
    }
}

impl<T> fmt::Debug for ReserveOwned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReserveOwned").field("waiter", &self.place.node).finish()
    }
}

/// One place in a channel, together with the sender it was reserved with.
#[must_use = "the place is given back as soon as this is dropped"]
pub struct OwnedPermit<T> {
    /// `None` only while this is used up.
    sender: Option<Sender<T>>,
}

impl<T> OwnedPermit<T> {
    fn into_sender(mut self) -> Sender<T> {
        self.sender.take().expect("a permit holds its sender until it is used up")
    }

    /// Sends the value, and gives the sender back. See [`Permit::send`](super::Permit::send).
    pub fn send(self, value: T) -> Sender<T> {
        let sender = self.into_sender();
        sender.chan().send_reserved(value);
        sender
    }

    /// Gives the place back unused, and the sender to the caller.
    pub fn release(self) -> Sender<T> {
        let sender = self.into_sender();
        sender.chan().return_place();
        sender
    }

    /// Whether this belongs to the same channel as a sender.
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.sender.as_ref().is_some_and(|own| own.same_channel(sender))
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = &self.sender {
            sender.chan().return_place();
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}
