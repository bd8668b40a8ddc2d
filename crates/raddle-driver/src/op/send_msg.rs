//! Sending several owned buffers, to an address or where the socket is connected to.

use crate::addr::RawAddr;
use crate::buf::{self, IoBuf};
use crate::interest::Direction;
use crate::op::{Entry, Handle, Operation, Route, Submitted};
use crate::source::Source;
use crate::submitted::attempted;
use crate::sys::{msg, sqe::Sqe};
use std::fmt;
use std::io;

/// See [`send_msg()`].
pub struct SendMsg<B> {
    handle: Handle,
    bufs: Vec<B>,
    /// On the heap, so that the header's addresses stay right when the operation moves.
    parts: Box<Parts>,
}

struct Parts {
    header: libc::msghdr,
    slices: Vec<libc::iovec>,
    addr: Option<RawAddr>,
}

// SAFETY: the raw addresses lead into `parts` itself and into the operation's own buffers.
unsafe impl<B: IoBuf> std::marker::Send for SendMsg<B> {}

/// Sends the bytes of all `bufs` in order, as one datagram or as a part of a stream; the buffers
/// come back. At most 1,024 buffers are looked at.
///
/// Allocates the message header. Never raises SIGPIPE.
#[track_caller]
pub fn send_msg<B: IoBuf>(
    source: &Source,
    bufs: Vec<B>,
    addr: Option<RawAddr>,
) -> Submitted<SendMsg<B>> {
    let parts = Box::new(Parts { header: msg::header(), slices: Vec::new(), addr });
    let mut operation = SendMsg { handle: source.handle().clone(), bufs, parts };
    operation.fill();
    Submitted::new(operation)
}

impl<B: IoBuf> SendMsg<B> {
    /// Makes the header name buffers and address.
    fn fill(&mut self) {
        let parts = &mut *self.parts;
        parts.slices = self
            .bufs
            .iter()
            .take(msg::MAX_SLICES)
            .map(|buf| {
                let bytes = buf::bytes(buf);
                libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() }
            })
            .collect();
        parts.header.msg_iov = parts.slices.as_mut_ptr();
        parts.header.msg_iovlen = parts.slices.len();
        if let Some(addr) = &parts.addr {
            parts.header.msg_name = addr.as_ptr().cast_mut().cast();
            parts.header.msg_namelen = addr.len();
        }
    }
}

// SAFETY: header, slices and address lie on the heap behind `parts`, the buffers keep their place,
// and the handle keeps the descriptor.
unsafe impl<B: IoBuf> Operation for SendMsg<B> {
    type Output = (io::Result<usize>, Vec<B>);

    fn attempt(&mut self, _ring: bool) -> Option<io::Result<u32>> {
        let header = &self.parts.header;
        attempted(self.handle.attempt(Direction::Write, |shell| {
            // SAFETY: the header names the buffers and the address of this operation.
            unsafe { msg::send(shell.fd(), header) }
        }))
    }

    fn may_fly(&self) -> bool {
        self.handle.may_send_by_ring()
    }

    fn entry(&mut self) -> Entry {
        Entry(Sqe::sendmsg(self.handle.shell().raw(), &raw const self.parts.header))
    }

    fn route(&self) -> Route<'_> {
        Route::Ready(&self.handle, Direction::Write)
    }

    fn finish(self, result: io::Result<u32>) -> Self::Output {
        (result.map(|count| count as usize), self.bufs)
    }
}

impl<B> fmt::Debug for SendMsg<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendMsg").field("handle", &self.handle).finish_non_exhaustive()
    }
}
