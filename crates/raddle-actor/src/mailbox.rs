//! The mailbox: where messages wait for a process, in order, with a bound and a stated policy.
//!
//! One [`Mailbox`] receives; any number of [`Address`]es send. A mailbox outlives the process that
//! receives from it: a supervisor hands it to the next incarnation, with the plain messages in it.
//! It works without a process as well, for any task that receives.
//!
//! # Question
//!
//! Many send and one receives; the receiver picks messages out of order and may be restarted in
//! between; a full mailbox makes senders wait, refuses, or drops, as its owner chose. How is each
//! message received once, dropped once or handed back, in the order of each sender, without an
//! allocation for a message or for a wait, and without foreign code under the lock?
//!
//! # States
//!
//! The word beside the lock: bit 0 `CLOSED`; above it the number of incarnations that ended. Under
//! the lock: the messages nobody has looked at, the receiver's waker while it waits, and two
//! numbers about messages that the receiver has *in hand* (it took them out to look for one, or in
//! a batch): how many of them still count (`held`), and how many of the oldest of them it must
//! throw away (`shed`). Waiting senders stand in the wait queue whose lock this is; the message of
//! each lies in its node.
//!
//! # Protocol
//!
//! *Send*: lock; closed: hand it back; full: as the policy says; else push, take the receiver's
//! waker; unlock; wake. Full means that the bound is reached or that senders wait. *Receive*: from
//! the messages in hand; in a mailbox with a bound under the lock, which settles what to shed, and
//! lets the first waiting sender's message in for each that is taken; without a bound the receiver
//! takes all messages at once and needs the lock only when its hand is empty. *Wait*: lock; if
//! there is still nothing, leave the waker. *Drop oldest*: if the receiver has messages in hand,
//! they are the oldest: one is shed; else the first in the queue is taken out. *Search*: take
//! everything in hand, look at what has not been looked at in this search, and settle under the
//! lock whether the one found still counts. *Grow*: when the buffer is full, a larger one is
//! allocated without the lock, and the messages move under it. *End of an incarnation*: count it,
//! take out messages that are calls, let waiting senders in. *Close*: set `CLOSED`, release the
//! senders with their messages.
//!
//! # Race
//!
//! *Push against park*: both under the lock, so either the receiver sees the message, or the
//! sender sees the waker. *A sender gives up against being let in*: the lock orders them; the node
//! says which came first, and the message is the node's or the queue's. *End of an incarnation
//! against a send*: a call that was accepted before is taken out and dropped; one accepted after
//! is for the next incarnation. Its sender tells them apart by the count of incarnations: it reads
//! it before it sends, so it may call an answer "stopped" that was merely dropped, never the other
//! way round. *The last address goes against the receiver's wait*: the count falls before the lock
//! is taken to fetch the waker, and the receiver looks at it under the lock.
//!
//! # Proof
//!
//! Every message is in one place: in its sender's node, in the queue, or in hand; each move is
//! made under the lock or by the one owner of both ends. While a sender waits the mailbox is full,
//! since whoever makes room lets the first one in, in the same critical section; so no later
//! message of a sender overtakes an earlier one that was queued. `held + shed` is what a bounded
//! mailbox's receiver has in hand, and `held` plus the queue never exceeds the bound. Foreign code:
//! messages, wakers and predicates are dropped, called and asked outside of the lock. Models:
//! `model_push_against_park`, `model_waiting_sender_against_receive`,
//! `model_waiting_sender_against_close`, `model_waiting_sender_against_cancel`,
//! `model_restart_against_send`, `model_drop_oldest_against_search`.
//!
//! [`Address`]: crate::Address

mod closed;
mod error;
mod policy;
mod push;
mod receive;
mod recv;
mod restart;
mod search;
mod sending;
mod shared;

pub use closed::Closed;
pub use error::{SendError, TryRecvError, TrySendError};
pub use policy::Policy;
pub(crate) use push::Offer;
pub use receive::Mailbox;
pub use recv::{Recv, RecvWhere};
pub use search::Search;
pub use sending::Sending;
pub(crate) use shared::{Entry, Shared};

#[cfg(all(test, loom))]
#[path = "tests/mailbox_models.rs"]
mod models;
#[cfg(all(test, not(loom)))]
#[path = "tests/mailbox.rs"]
mod tests;
#[cfg(all(test, not(loom)))]
#[path = "tests/mailbox_worlds.rs"]
mod worlds;
