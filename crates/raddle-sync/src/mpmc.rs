//! Channels of many values with many senders and many receivers: each value goes to one receiver.
//!
//! | made by | room | a send without room |
//! |---|---|---|
//! | [`bounded`] | for so many values | waits for room |
//! | [`unbounded`] | for any number | there is always room |
//! | [`rendezvous`] | none | waits until a receiver has taken the value |
//! | [`overwriting`] | for so many values | pushes the oldest value out |
//!
//! What all promise.
//!
//! * *Nothing is lost.* A value that was accepted is received once, also after a close, or dropped
//!   once, with the last receiver. One that was not accepted comes back.
//! * *Order.* Values are received in the order in which they were sent. Receivers that wait for
//!   values and senders that wait for room are served first come first served, and nobody can take
//!   what was given to one that is just being woken. One that is dropped instead passes it on, and
//!   the order of the values does not change.
//! * *Cancelling.* Dropping a receive at any point moves no value. Dropping a send that waits takes
//!   the value back unless it was taken, and then it was sent; [`Sending::take_back`] and the
//!   timed forms tell which.
//! * *The end.* Receivers see it when everything is drained and the channel was closed
//!   ([`RecvError::Closed`]) or all senders are gone ([`RecvError::Disconnected`]); senders see it
//!   at once, in the same two ways. A value that was promised to a receive which was forgotten
//!   (`mem::forget`) stays in the channel until the last receiver goes.
//! * *Several places.* A sender may wait for room for several values at once
//!   ([`Sender::reserve_many`]), or feed a channel as a sink: [`SenderSink`], or the sender itself
//!   where it never waits. A rendezvous has no place to reserve, and is no sink.
//! * *Memory.* Waiting allocates nothing. The room of a channel with a bound is allocated when it
//!   is made; an unbounded one has blocks of 32 values, keeps a drained one for later and frees
//!   what a burst adds as it is received.
//! * *Cost.* An operation that need not wait takes one small lock, under which no foreign code
//!   runs, for a few instructions: one exchange and one store.
//!
//! ```
//! use raddle_sync::{block_on, mpmc};
//!
//! let (tx, rx) = mpmc::bounded(2);
//! let workers: Vec<_> = (0..3)
//!     .map(|_| {
//!         let rx = rx.clone();
//!         std::thread::spawn(move || {
//!             let mut sum = 0;
//!             while let Ok(i) = rx.blocking_recv() {
//!                 sum += i;
//!             }
//!             sum
//!         })
//!     })
//!     .collect();
//! block_on(async {
//!     for i in 0..5 {
//!         tx.send(i).await.unwrap();
//!     }
//! });
//! drop(tx);
//! assert_eq!(workers.into_iter().map(|worker| worker.join().unwrap()).sum::<i32>(), 10);
//! ```
//!
//! What must not cross threads does not, and what waits in place does not move.
//!
//! ```compile_fail,E0277
//! fn send<T: Send>(_: T) {}
//! send(raddle_sync::mpmc::unbounded::<std::rc::Rc<u8>>().0);
//! ```
//!
//! ```compile_fail,E0277
//! fn unpin<T: Unpin>() {}
//! unpin::<raddle_sync::mpmc::Recv<'static, u8>>();
//! ```
//!
//! ```compile_fail,E0597
//! // A channel does not take what lives shorter than what is in it.
//! let (tx, rx) = raddle_sync::mpmc::bounded::<&u8>(1);
//! {
//!     let short = 1;
//!     tx.try_send(&short).unwrap();
//! }
//! drop(rx.try_recv());
//! ```
//!
//! Coming from other channels: [`bounded`] and [`unbounded`] of async-channel or flume;
//! `flume::bounded(0)` is [`rendezvous`]; `force_send` is [`Sender::force_send`].

mod chan;
mod ends;
pub mod error;
mod kind;
mod receiver;
mod recv;
mod reserve;
mod send;
mod sender;
mod state;
mod store;

pub use crate::closing::Closed;
pub use error::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
pub use kind::{Bounded, HasRoom, Kind, Overwriting, Rendezvous, Unbounded, Waits};
pub use receiver::{Receiver, ReceiverStream, WeakReceiver};
pub use recv::{Recv, RecvMany};
pub use reserve::{
    OwnedPermit, Permit, PermitIterator, Reserve, ReserveMany, ReserveOwned, SenderSink,
};
pub use send::{SendTimeout, Sending};
pub use sender::{Sender, WeakSender};

use raddle_base::shim::Arc;

use crate::ends::End;
use chan::Chan;

/// Makes a channel with room for `capacity` values, which is allocated at once.
///
/// # Panics
///
/// If `capacity` is zero (see [`rendezvous`]), or more than memory can hold.
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    check(capacity);
    ends(Chan::new(capacity))
}

/// Makes a channel without a bound. It grows as long as values come faster than they are received:
/// use it where something else limits them.
///
/// ```
/// use raddle_sync::mpmc::{self, RecvError};
///
/// let (tx, rx) = mpmc::unbounded();
/// tx.send("hello").unwrap();
/// drop(tx);
/// assert_eq!(rx.blocking_recv(), Ok("hello"));
/// assert_eq!(rx.blocking_recv(), Err(RecvError::Disconnected));
/// ```
pub fn unbounded<T>() -> (Sender<T, Unbounded>, Receiver<T, Unbounded>) {
    ends(Chan::new(usize::MAX))
}

/// Makes a channel without room: a send is over when a receiver has taken the value. It takes two
/// allocations, as one with room does.
///
/// ```
/// use raddle_sync::mpmc::{self, TrySendError};
///
/// let (tx, rx) = mpmc::rendezvous();
/// assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)), "nobody is there to take it");
/// let sender = std::thread::spawn(move || tx.blocking_send(2));
/// assert_eq!(rx.blocking_recv(), Ok(2));
/// sender.join().unwrap().unwrap();
/// ```
pub fn rendezvous<T>() -> (Sender<T, Rendezvous>, Receiver<T, Rendezvous>) {
    ends(Chan::new(0))
}

/// Makes a channel that keeps the newest `capacity` values: senders never wait, and what they push
/// out is returned to them. The room is allocated at once.
///
/// # Panics
///
/// If `capacity` is zero, or more than memory can hold.
///
/// ```
/// use raddle_sync::mpmc;
///
/// let (tx, rx) = mpmc::overwriting(2);
/// assert_eq!((tx.send(1), tx.send(2), tx.send(3)), (Ok(None), Ok(None), Ok(Some(1))));
/// assert_eq!((rx.try_recv(), rx.try_recv()), (Ok(2), Ok(3)));
/// ```
#[track_caller]
pub fn overwriting<T>(capacity: usize) -> (Sender<T, Overwriting>, Receiver<T, Overwriting>) {
    check(capacity);
    ends(Chan::new(capacity))
}

fn ends<T, K: Kind>(chan: Arc<Chan<T>>) -> (Sender<T, K>, Receiver<T, K>) {
    (Sender::from_end(End::counted(chan.clone())), Receiver::from_end(End::counted(chan)))
}

#[track_caller]
fn check(capacity: usize) {
    assert!(capacity > 0, "a channel with a bound needs room for a value, or is a rendezvous");
    assert!(capacity < usize::MAX, "the bound of a channel is too large");
}

#[cfg(all(test, not(loom)))]
#[path = "tests/mpmc_faces.rs"]
mod faces_tests;
#[cfg(all(test, loom))]
#[path = "tests/mpmc_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/mpmc.rs"]
mod tests;
#[cfg(all(test, not(loom)))]
#[path = "tests/mpmc_worlds.rs"]
mod worlds_tests;
