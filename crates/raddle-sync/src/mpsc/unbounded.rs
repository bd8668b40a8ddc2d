//! The channel without a bound: sending never waits.

use super::chan::Chan;
use super::error::SendError;
use super::kind::Unbounded;
use super::receive::{Receiver, UnboundedReceiver};
use super::sender::{Sender, UnboundedSender};
use crate::ends::End;
use crate::places::feed::sink_at_once;

/// Makes a channel without a bound. It grows as long as values come faster than they are
/// received: use it where something else limits them.
///
/// ```
/// use raddle_sync::mpsc;
///
/// let (tx, mut rx) = mpsc::unbounded_channel();
/// tx.send("hello").unwrap();
/// drop(tx);
/// assert_eq!(rx.blocking_recv(), Some("hello"));
/// assert_eq!(rx.blocking_recv(), None);
/// ```
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let chan = Chan::new(0, 0);
    (Sender::from_end(End::counted(chan.clone())), Receiver::new(chan))
}

impl<T> Sender<T, Unbounded> {
    /// Sends a value, without waiting. Allocates when a block is full and none came back.
    ///
    /// # Errors
    ///
    /// If the receiver is closed or gone: the value comes back.
    #[inline]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.chan.send(value).map_err(SendError)
    }
}

sink_at_once!(
    Sender<T, Unbounded>,
    SendError<()>,
    |_: &Self| SendError(()),
    |sender: &Self, value| sender.send(value).map_err(|_| SendError(()))
);
