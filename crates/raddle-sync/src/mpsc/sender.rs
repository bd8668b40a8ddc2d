//! The sending ends: what those with and without a bound have in common.

use std::fmt;

use raddle_base::shim::Arc;

use super::chan::Chan;
use super::kind::{Bounded, Kind, Unbounded};
use crate::closing::Closed;

/// The sending end of a channel, with a bound or ([`UnboundedSender`]) without. Clone it for more
/// senders.
pub struct Sender<T, K: Kind = Bounded> {
    pub(super) chan: Arc<Chan<T, K>>,
}

/// The sending end of a channel without a bound.
pub type UnboundedSender<T> = Sender<T, Unbounded>;

impl<T, K: Kind> Sender<T, K> {
    /// Waits until the receiver is closed or gone.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    #[track_caller]
    pub fn closed(&self) -> Closed<'_> {
        self.chan.closed()
    }

    /// Whether the receiver is closed or gone.
    pub fn is_closed(&self) -> bool {
        self.chan.is_closed()
    }

    /// Whether both belong to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }

    /// A handle that does not keep the channel open.
    pub fn downgrade(&self) -> WeakSender<T, K> {
        self.chan.add_weak_sender();
        WeakSender { chan: self.chan.clone() }
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.chan.sender_counts().0
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.chan.sender_counts().1
    }
}

impl<T, K: Kind> Clone for Sender<T, K> {
    fn clone(&self) -> Self {
        self.chan.add_sender();
        Sender { chan: self.chan.clone() }
    }
}

impl<T, K: Kind> Drop for Sender<T, K> {
    fn drop(&mut self) {
        self.chan.remove_sender();
    }
}

impl<T, K: Kind> fmt::Debug for Sender<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Sender");
        if K::PLACES != 0 {
            out.field("capacity", &self.chan.permits().available());
        }
        out.field("closed", &self.is_closed()).finish()
    }
}

/// A sender that does not keep the channel open.
pub struct WeakSender<T, K: Kind = Bounded> {
    chan: Arc<Chan<T, K>>,
}

/// A sender without a bound that does not keep the channel open.
pub type WeakUnboundedSender<T> = WeakSender<T, Unbounded>;

impl<T, K: Kind> WeakSender<T, K> {
    /// A sender, unless all are gone.
    pub fn upgrade(&self) -> Option<Sender<T, K>> {
        self.chan.revive_sender().then(|| Sender { chan: self.chan.clone() })
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.chan.sender_counts().0
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.chan.sender_counts().1
    }
}

impl<T, K: Kind> Clone for WeakSender<T, K> {
    fn clone(&self) -> Self {
        self.chan.add_weak_sender();
        WeakSender { chan: self.chan.clone() }
    }
}

impl<T, K: Kind> Drop for WeakSender<T, K> {
    fn drop(&mut self) {
        self.chan.remove_weak_sender();
    }
}

impl<T, K: Kind> fmt::Debug for WeakSender<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}
