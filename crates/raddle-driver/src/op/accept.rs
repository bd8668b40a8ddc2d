//! Accepting a connection.
//!
//! Both ways lie in the listener, because a connection that arrives after its future was dropped
//! must stay with the listener: on io_uring an accept request of the listener's own, on epoll
//! `accept4` when readable.

use crate::addr::RawAddr;
use crate::source::Source;
use std::io;
use std::os::fd::OwnedFd;

/// Accepts one connection on a listener: see [`Source::accept`].
#[track_caller]
pub fn accept(
    listener: &Source,
) -> impl Future<Output = io::Result<(OwnedFd, RawAddr)>> + Send + '_ {
    listener.accept()
}
