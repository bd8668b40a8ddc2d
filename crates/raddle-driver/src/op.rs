//! Operations: one trait, one file for each, both ways in each file.
//!
//! An operation owns what the kernel needs (buffer, descriptor, address) from the moment it is
//! made until the kernel is done with it. It says how it looks as a submission entry, for
//! io_uring; how to try it without blocking, and what to wait for if that fails, for epoll; and,
//! where neither a ring nor readiness helps, how to do it by a blocking call on the pool.
//!
//! The future of an operation is [`Submitted`]. Dropping it asks for cancellation and returns at
//! once; buffer and descriptor stay with the operation until the kernel lets go. A result that
//! comes late is given back: an opened descriptor is closed, an accepted one stays with its
//! listener, and bytes are never taken by an operation at all: receives go through the socket
//! (see [`Source`](crate::Source)), which keeps what nobody has read.
//!
//! | operation | io_uring | epoll |
//! |---|---|---|
//! | [`accept()`], [`recv()`], [`recv_from()`] | the socket's own mechanics | the same |
//! | [`connect()`] | entry; Unix: attempts | attempt, then writable; Unix: attempts |
//! | [`send()`], [`send_msg()`] | attempt, then entry | attempt, then writable |
//! | [`read()`] | cached: in place; else entry | cached: in place; else offload |
//! | [`write()`], [`open()`], [`fsync()`], [`close()`] | entry | offload |

mod accept;
mod close;
mod connect;
mod fsync;
mod open;
mod read;
mod recv;
mod send;
mod send_msg;
mod traits;
mod write;

pub use crate::handle::Handle;
pub use crate::submitted::Submitted;
pub use accept::accept;
pub use close::{Close, close};
pub use connect::{Connect, connect};
pub use fsync::{Fsync, fsync};
pub use open::{Open, open};
pub use read::{Read, read, read_cached};
pub use recv::{recv, recv_from};
pub use send::{Send, send};
pub use send_msg::{SendMsg, send_msg};
pub use traits::{Entry, Operation, Route};
pub use write::{Write, write};
