//! Channels in which every receiver sees every value.
//!
//! * A [`channel`] never makes a sender wait: with no room, the oldest value goes, and a receiver
//!   that has not received it is told how many it has missed.
//! * A [`lossless_channel`] makes senders wait until the slowest receiver has made room. Only there
//!   is room something to be waited for and reserved, for one value or several.
//!
//! There is no kind without a bound: one receiver that stands still would make it grow for ever.
//! Give each receiver an [`mpsc::unbounded_channel`](crate::mpsc::unbounded_channel) of its own
//! where something else limits what is sent.
//!
//! What both promise.
//!
//! * *Nothing is lost in silence.* A receiver receives all values that are sent while it exists, in
//!   one order for all, or is told how many it missed. After the last sender it receives what is
//!   there, then it is told that the channel is closed. A value that nobody would receive comes
//!   back to its sender.
//! * *Values go early.* A value is dropped, or moved out, as soon as the last receiver that counts
//!   on it has received it. The last one gets the value itself, all others a clone.
//! * *Order.* Senders that wait for room get it first come first served, and nobody overtakes one
//!   that waits for several places. What happened before a
//!   send is visible to who receives its value.
//! * *Memory.* Waiting and sending allocate nothing: all room is allocated with the channel and, in
//!   one that overwrites, room for one more value with each receiver.
//! * *Cancelling.* Dropping a receive moves no value; dropping a send that waits drops its value,
//!   which was not sent, and room it was granted goes to the next.
//! * *Foreign code.* Values are cloned and dropped, and tasks woken, with nothing locked. A clone
//!   that panics loses nothing for others.
//!
//! ```
//! use raddle_sync::broadcast::{self, RecvError};
//! use raddle_sync::block_on;
//!
//! let (tx, mut rx) = broadcast::channel(2);
//! let mut other = tx.subscribe();
//! block_on(async {
//!     tx.send(1).unwrap();
//!     assert_eq!(other.recv().await, Ok(1));
//!     tx.send(2).unwrap();
//!     tx.send(3).unwrap();
//!     drop(tx);
//!     assert_eq!(rx.recv().await, Err(RecvError::Lagged(1)));
//!     for rx in [&mut rx, &mut other] {
//!         assert_eq!(rx.recv().await, Ok(2));
//!         assert_eq!(rx.recv().await, Ok(3));
//!         assert_eq!(rx.recv().await, Err(RecvError::Closed));
//!     }
//! });
//! ```

mod entry;
pub mod error;
mod lagging;
mod leave;
mod lossless;
mod mode;
mod receiver;
mod recv;
mod reserve;
mod ring;
mod send;
mod sender;
mod shared;
mod stream;

pub use crate::audience::Closed;
pub use error::{
    Lagged, RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
pub use lagging::channel;
pub use lossless::lossless_channel;
pub use mode::{Lagging, Lossless, Mode};
pub use receiver::Receiver;
pub use recv::{Recv, RecvMany};
pub use reserve::{
    OwnedPermit, Permit, PermitIterator, Reserve, ReserveMany, ReserveOwned, SenderSink,
};
pub use send::{SendTimeout, Sending};
pub use sender::{Sender, WeakSender};
pub use stream::BroadcastStream;

#[cfg(all(test, not(loom)))]
#[path = "tests/broadcast_lossless.rs"]
mod lossless_tests;
#[cfg(all(test, loom))]
#[path = "tests/broadcast_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/broadcast.rs"]
mod tests;
