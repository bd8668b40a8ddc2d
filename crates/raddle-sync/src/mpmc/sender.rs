//! The sending ends, strong and weak, of each kind of channel.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use super::chan::Chan;
use super::error::{SendError, SendTimeoutError, TrySendError};
use super::kind::{Bounded, HasRoom, Kind, Overwriting, Unbounded, Waits};
use super::send::{SendTimeout, Sending};
use crate::closing::Closed;
use crate::ends::counted_ends;
use crate::places::feed::sink_at_once;
use crate::timed::within;
use crate::{block_on, wait_timeout};

counted_ends! {
    /// The sending end of a channel. Clone it for more senders, which allocates nothing.
    pub struct Sender<T, K: Kind = Bounded> and struct WeakSender of Chan<T>, Senders: "sender"
}

impl<T, K: Kind> Sender<T, K> {
    /// Accepts nothing new: sends that wait are refused, and get their value back. Values that were
    /// accepted, and those of places reserved before, can still be received. False if the channel
    /// was closed already.
    pub fn close(&self) -> bool {
        self.chan.close()
    }

    /// Waits until the channel is closed or all receivers are gone. Dropping the future loses
    /// nothing.
    #[track_caller]
    pub fn closed(&self) -> Closed<'_> {
        self.chan.to_senders.wait()
    }

    /// As [`closed`](Self::closed), blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_closed(&self) {
        block_on(self.closed());
    }

    /// As [`closed`](Self::closed), blocking the thread for at most `limit`; whether it came true.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_closed_timeout(&self, limit: Duration) -> bool {
        wait_timeout(self.closed(), limit).is_some()
    }

    /// Whether the channel is closed or all receivers are gone.
    pub fn is_closed(&self) -> bool {
        self.chan.to_senders.is_set()
    }

    /// Values in the channel.
    pub fn len(&self) -> usize {
        self.chan.len()
    }

    /// Whether there is no value in the channel.
    pub fn is_empty(&self) -> bool {
        self.chan.len() == 0
    }

    /// How many senders there are. The same as [`strong_count`](Self::strong_count).
    pub fn sender_count(&self) -> usize {
        self.chan.senders.strong()
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.chan.receivers.strong()
    }
}

impl<T, K: Waits> Sender<T, K> {
    /// Sends a value, waiting for room, or in a rendezvous for a receiver to take it. Senders that
    /// wait are served first come first served.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes the value back unless it was taken meanwhile, and then it was
    /// sent: exactly one of both, see [`Sending::take_back`]. To decide later what to send,
    /// [`reserve`](Sender::reserve) first.
    ///
    /// # Errors
    ///
    /// If the channel is closed or all receivers are gone: the value comes back.
    #[inline]
    #[track_caller]
    pub fn send(&self, value: T) -> Sending<'_, T> {
        Sending::new(self.chan.chan(), value)
    }

    /// Sends a value if there is room now and nobody waits for it. In a rendezvous: if a receiver
    /// waits; should that one be dropped before it takes the value, the next one gets it.
    ///
    /// # Errors
    ///
    /// If there is no room, or no receiver that waits; if the channel is closed or all receivers
    /// are gone. The value comes back.
    #[inline]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.chan.try_send(value, true)
    }

    /// As [`send`](Self::send), until `time_is_up` is ready: any future, such as the sleep of a
    /// runtime. The send is looked at first.
    ///
    /// # Cancel safety
    ///
    /// As [`send`](Self::send). If time is up first, the value was not sent.
    ///
    /// # Errors
    ///
    /// If time is up, the channel is closed or all receivers are gone: the value comes back.
    #[track_caller]
    pub fn send_timeout<F: Future>(&self, value: T, time_is_up: F) -> SendTimeout<'_, T, F> {
        SendTimeout::new(self.send(value), time_is_up)
    }

    /// As [`send`](Self::send), blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        block_on(self.send(value))
    }

    /// As [`send`](Self::send), blocking the thread for at most `limit`. Exactly one outcome: the
    /// value was sent, or comes back. Without need to wait it is sent even with a limit of zero.
    ///
    /// # Errors
    ///
    /// If time is up, the channel is closed or all receivers are gone: the value comes back.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_send_timeout(
        &self,
        value: T,
        limit: Duration,
    ) -> Result<(), SendTimeoutError<T>> {
        within(self.send(value), limit)
    }
}

impl<T> Sender<T> {
    /// Sends a value without waiting: without room the oldest value is pushed out and returned. The
    /// new one goes ahead of senders that wait.
    ///
    /// # Errors
    ///
    /// `Full` if all places are reserved, so that there is no value to push out; if the channel is
    /// closed or all receivers are gone. The value comes back.
    pub fn force_send(&self, value: T) -> Result<Option<T>, TrySendError<T>> {
        self.chan.force_send(value)
    }
}

impl<T, K: HasRoom> Sender<T, K> {
    /// The room that the channel was made with.
    pub fn capacity(&self) -> usize {
        self.chan.capacity()
    }

    /// Whether all room is taken or reserved. A send of the overwriting kind pushes a value out
    /// then.
    pub fn is_full(&self) -> bool {
        self.chan.is_full()
    }
}

impl<T> Sender<T, Unbounded> {
    /// Sends a value, without waiting. Allocates when a block is full and none came back.
    ///
    /// # Errors
    ///
    /// If the channel is closed or all receivers are gone: the value comes back.
    #[inline]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.chan.try_send(value, true).map_err(|error| match error {
            TrySendError::Disconnected(value) => SendError::Disconnected(value),
            TrySendError::Closed(value) | TrySendError::Full(value) => SendError::Closed(value),
        })
    }
}

impl<T> Sender<T, Overwriting> {
    /// Sends a value, without waiting. If there is no room the oldest value is pushed out, and
    /// returned.
    ///
    /// # Errors
    ///
    /// If the channel is closed or all receivers are gone: the value comes back.
    pub fn send(&self, value: T) -> Result<Option<T>, SendError<T>> {
        self.chan.force_send(value).map_err(|error| match error {
            TrySendError::Disconnected(value) => SendError::Disconnected(value),
            // Nothing is ever reserved here, so a full channel has a value to push out.
            TrySendError::Closed(value) | TrySendError::Full(value) => SendError::Closed(value),
        })
    }
}

sink_at_once!(
    Sender<T, Unbounded>,
    SendError<()>,
    |sender: &Self| sender.chan.refuse(()),
    |sender: &Self, value| sender.send(value).map_err(|error| error.map(drop))
);

sink_at_once!(
    Sender<T, Overwriting>,
    SendError<()>,
    |sender: &Self| sender.chan.refuse(()),
    |sender: &Self, value| sender.send(value).map(drop).map_err(|error| error.map(drop))
);

impl<T, K: Kind> fmt::Debug for Sender<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Sender");
        out.field("len", &self.len()).field("closed", &self.is_closed()).finish()
    }
}
