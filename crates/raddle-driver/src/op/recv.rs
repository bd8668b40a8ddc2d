//! Receiving into an owned buffer.
//!
//! Both ways lie in the socket, because bytes that arrive after a future was dropped must stay
//! with the socket: the buffer is filled from what the socket holds, or by a call in place. No
//! kernel ever holds the buffer, so dropping the future returns nothing late.

use crate::addr::RawAddr;
use crate::buf::{self, IoBufMut};
use crate::handle::Handle;
use crate::interest::Direction;
use crate::source::Source;
use crate::sys::socket;
use std::io;
use std::os::fd::BorrowedFd;

/// Receives into `buf`; the buffer comes back. `Ok(0)` is the end of input.
pub async fn recv<B: IoBufMut>(source: &Source, mut buf: B) -> (io::Result<usize>, B) {
    let attempt = |handle: &Handle| handle.attempt_read(buf::room(&mut buf));
    let result = source.attempting(Direction::Read, attempt).await;
    if let Ok(count) = result {
        // SAFETY: a successful read has initialised so many bytes.
        unsafe { buf.set_init(count) };
    }
    (result, buf)
}

/// Receives one datagram into `buf`, with where it came from; the buffer comes back.
pub async fn recv_from<B: IoBufMut>(
    source: &Source,
    mut buf: B,
) -> (io::Result<(usize, RawAddr)>, B) {
    let call = |fd: BorrowedFd<'_>| socket::recv_from(fd, buf::room(&mut buf), false);
    let result = source.io(Direction::Read, call).await;
    if let Ok((count, _)) = result {
        // SAFETY: a successful receive has initialised so many bytes.
        unsafe { buf.set_init(count) };
    }
    (result, buf)
}
