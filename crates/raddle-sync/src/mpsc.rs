//! Channels of many values: many senders, one receiver, with or without a bound.
//!
//! * [`channel`] has room for so many values; [`Sender::send`] waits for room, and
//!   [`Sender::reserve`] waits for room before there is a value.
//! * [`unbounded_channel`] takes whatever is sent, at once.
//!
//! What both promise.
//!
//! * *Nothing is lost.* A value that was accepted is received, also after [`Receiver::close`], or
//!   dropped once, with the receiver. One that was not accepted comes back.
//! * *Order.* Values of one sender arrive in their order. Senders that wait for room get it first
//!   come first served.
//! * *Memory.* Waiting allocates nothing. Values lie in blocks of up to 64; a block is reused while
//!   the channel is in balance, and freed after a burst.
//! * *The end.* The receiver sees it when all senders are gone, or it closed the channel, and
//!   every value and every reserved place before that is dealt with.
//!
//! ```
//! use raddle_sync::{block_on, mpsc};
//!
//! let (tx, mut rx) = mpsc::channel(2);
//! std::thread::spawn(move || {
//!     for i in 0..5 {
//!         tx.blocking_send(i).unwrap();
//!     }
//! });
//! block_on(async {
//!     let mut sum = 0;
//!     while let Some(i) = rx.recv().await {
//!         sum += i;
//!     }
//!     assert_eq!(sum, 10);
//! });
//! ```

mod bounded;
mod chan;
mod chunks;
pub mod error;
mod owned;
mod permit;
mod receive;
mod reserve;
mod unbounded;

pub use bounded::{Receiver, Sender, WeakSender, channel};
pub use chan::Closed;
pub use error::{SendError, TryRecvError, TrySendError};
pub use owned::{OwnedPermit, ReserveOwned};
pub use permit::{Permit, PermitIterator};
pub use receive::{Recv, RecvMany};
pub use reserve::{Reserve, ReserveMany, Sending};
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};

#[cfg(all(test, loom))]
#[path = "tests/mpsc_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/mpsc.rs"]
mod tests;
