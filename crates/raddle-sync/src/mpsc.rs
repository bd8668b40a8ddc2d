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
//! * *Memory.* Waiting allocates nothing. Values lie in blocks of 32; a few blocks are reused while
//!   the channel is in balance, and what a burst adds is freed as soon as it is received.
//! * *Cost.* A send that need not wait is one read-modify-write, and a receive none, or one in a
//!   channel with a bound. No lock is taken but by senders that wait for room.
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
//!
//! What must not cross threads does not, what waits in place does not move, and the receiving end
//! is one.
//!
//! ```compile_fail,E0277
//! fn send<T: Send>(_: T) {}
//! send(raddle_sync::mpsc::unbounded_channel::<std::rc::Rc<u8>>().0);
//! ```
//!
//! ```compile_fail,E0277
//! fn unpin<T: Unpin>() {}
//! unpin::<raddle_sync::mpsc::Sending<'static, u8>>();
//! ```
//!
//! ```compile_fail,E0599
//! let (_tx, rx) = raddle_sync::mpsc::channel::<u8>(1);
//! let second = rx.clone();
//! ```
//!
//! ```compile_fail,E0597
//! // A channel does not take what lives shorter than what is in it.
//! let (tx, mut rx) = raddle_sync::mpsc::channel::<&u8>(1);
//! {
//!     let short = 1;
//!     tx.try_send(&short).unwrap();
//! }
//! drop(rx.try_recv());
//! ```

mod block;
mod blocks;
mod bounded;
mod chan;
pub mod error;
mod kind;
mod receive;
mod reserve;
mod send;
mod sender;
mod take;
mod unbounded;
mod word;

pub use crate::closing::Closed;
pub use bounded::{MAX_CAPACITY, channel};
pub use error::{RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
pub use kind::{Bounded, Kind, Unbounded};
pub use receive::{Receiver, Recv, RecvMany, UnboundedReceiver};
pub use reserve::{
    OwnedPermit, Permit, PermitIterator, Reserve, ReserveMany, ReserveOwned, SenderSink,
};
pub use send::{SendTimeout, Sending};
pub use sender::{Sender, UnboundedSender, WeakSender, WeakUnboundedSender};
pub use unbounded::unbounded_channel;

#[cfg(all(test, not(loom)))]
#[path = "tests/mpsc_faces.rs"]
mod faces_tests;
#[cfg(all(test, loom))]
#[path = "tests/mpsc_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/mpsc.rs"]
mod tests;
#[cfg(all(test, not(loom)))]
#[path = "tests/mpsc_worlds.rs"]
mod worlds_tests;
