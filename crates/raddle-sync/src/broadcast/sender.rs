//! The sending ends: what those of both kinds of channel have in common.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use raddle_base::shim::Arc;

use super::mode::{Lagging, Mode};
use super::receiver::Receiver;
use super::shared::Shared;
use crate::audience::Closed;
use crate::{block_on, wait_timeout};

/// The sending end of a broadcast channel. Clone it for more senders.
///
/// Receivers clone a value at the same time, so the ends cross threads only if values may be shared
/// and sent:
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
pub struct Sender<T, M: Mode = Lagging> {
    pub(super) shared: Arc<Shared<T>>,
    mode: PhantomData<fn() -> M>,
}

impl<T, M: Mode> Sender<T, M> {
    /// One of those that were counted in.
    pub(super) fn from_shared(shared: Arc<Shared<T>>) -> Self {
        Sender { shared, mode: PhantomData }
    }

    /// A new receiver, for the values that are sent from now on. In a channel that overwrites it
    /// allocates room for one value.
    pub fn subscribe(&self) -> Receiver<T, M> {
        Receiver::new(self.shared.clone())
    }

    /// Waits until there is no receiver. Over with the end of the last one, although there may be
    /// another by the time that is noticed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    #[track_caller]
    pub fn closed(&self) -> Closed<'_> {
        self.shared.audience.closed()
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
        self.shared.audience.count()
    }

    /// Places that are taken: by values that some receiver has not received, and by later ones.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether all receivers have received all values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The room that the channel was made with.
    pub fn max_capacity(&self) -> usize {
        self.shared.capacity()
    }

    /// Whether both belong to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// A handle that does not keep the channel open.
    pub fn downgrade(&self) -> WeakSender<T, M> {
        self.shared.add_weak_sender();
        WeakSender { shared: self.shared.clone(), mode: PhantomData }
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.shared.sender_counts().0
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.shared.sender_counts().1
    }
}

impl<T, M: Mode> Clone for Sender<T, M> {
    fn clone(&self) -> Self {
        self.shared.add_sender();
        Self::from_shared(self.shared.clone())
    }
}

impl<T, M: Mode> Drop for Sender<T, M> {
    fn drop(&mut self) {
        self.shared.remove_sender();
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

/// A sender that does not keep the channel open.
pub struct WeakSender<T, M: Mode = Lagging> {
    shared: Arc<Shared<T>>,
    mode: PhantomData<fn() -> M>,
}

impl<T, M: Mode> WeakSender<T, M> {
    /// A sender, unless all are gone.
    pub fn upgrade(&self) -> Option<Sender<T, M>> {
        self.shared.revive_sender().then(|| Sender::from_shared(self.shared.clone()))
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.shared.sender_counts().0
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.shared.sender_counts().1
    }
}

impl<T, M: Mode> Clone for WeakSender<T, M> {
    fn clone(&self) -> Self {
        self.shared.add_weak_sender();
        WeakSender { shared: self.shared.clone(), mode: PhantomData }
    }
}

impl<T, M: Mode> Drop for WeakSender<T, M> {
    fn drop(&mut self) {
        self.shared.remove_weak_sender();
    }
}

impl<T, M: Mode> fmt::Debug for WeakSender<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}
