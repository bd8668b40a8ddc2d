//! The sending ends: what those with and without a bound have in common.

use std::fmt;
use std::time::Duration;

use super::chan::Chan;
use super::kind::{Bounded, Kind, Unbounded};
use crate::closing::Closed;
use crate::ends::counted_ends;
use crate::{block_on, wait_timeout};

counted_ends! {
    /// The sending end of a channel, with a bound or ([`UnboundedSender`]) without. Clone it for
    /// more senders, which allocates nothing.
    pub struct Sender<T, K: Kind = Bounded> and struct WeakSender of Chan<T, K>, Senders: "sender"
}

/// The sending end of a channel without a bound.
pub type UnboundedSender<T> = Sender<T, Unbounded>;

/// A sender without a bound that does not keep the channel open.
pub type WeakUnboundedSender<T> = WeakSender<T, Unbounded>;

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

    /// Whether the receiver is closed or gone.
    pub fn is_closed(&self) -> bool {
        self.chan.is_closed()
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
