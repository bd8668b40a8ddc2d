//! The sending ends: what those of both kinds of channel have in common.

use std::fmt;
use std::time::Duration;

use super::mode::{Lagging, Mode};
use super::receiver::Receiver;
use super::shared::Shared;
use crate::audience::Closed;
use crate::ends::counted_ends;
use crate::{block_on, wait_timeout};

counted_ends! {
    /// The sending end of a broadcast channel. Clone it for more senders.
    ///
    /// Receivers clone a value at the same time, so the ends cross threads only if values may be
    /// shared and sent:
    ///
    /// ```compile_fail,E0277
    /// fn crosses_threads<T: Send>() {}
    /// crosses_threads::<raddle_sync::broadcast::Sender<std::cell::Cell<u8>>>();
    /// ```
    ///
    /// Values go in and come out, so a channel is of exactly one type of values:
    ///
    /// ```compile_fail
    /// use raddle_sync::broadcast::Sender;
    /// fn shorter<'a>(sender: Sender<&'static str>) -> Sender<&'a str> {
    ///     sender
    /// }
    /// ```
    pub struct Sender<T, K: Mode = Lagging> and struct WeakSender of Shared<T>, Senders: "sender"
}

impl<T, M: Mode> Sender<T, M> {
    /// A new receiver, for the values that are sent from now on. In a channel that overwrites it
    /// allocates room for one value.
    pub fn subscribe(&self) -> Receiver<T, M> {
        Receiver::new(self.chan.shared())
    }

    /// Waits until there is no receiver. Over with the end of the last one, although there may be
    /// another by the time that is noticed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    #[track_caller]
    pub fn closed(&self) -> Closed<'_> {
        self.chan.audience.closed()
    }

    /// Waits until there is no receiver, by blocking the thread.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_closed(&self) {
        block_on(self.closed());
    }

    /// Waits until there is no receiver, by blocking the thread, for at most `limit`; whether that
    /// came true.
    ///
    /// # Panics
    ///
    /// Inside the poll of an async task.
    #[track_caller]
    pub fn blocking_closed_timeout(&self, limit: Duration) -> bool {
        wait_timeout(self.closed(), limit).is_some()
    }

    /// Whether there is no receiver now.
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.chan.audience.count()
    }

    /// Places that are taken: by values that some receiver has not received, and by later ones.
    pub fn len(&self) -> usize {
        self.chan.len()
    }

    /// Whether all receivers have received all values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The room that the channel was made with.
    pub fn max_capacity(&self) -> usize {
        self.chan.capacity()
    }
}

impl<T, M: Mode> fmt::Debug for Sender<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("receivers", &self.receiver_count())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
