//! Bytes from a reader to a writer, one way or both.

use super::buf_reader::CAPACITY;
use super::{AsyncRead, AsyncWrite};
use raddle_base::context;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Copies everything from `reader` to `writer`, flushes, and says how many bytes it was. Allocates
/// one buffer of 8 KiB.
///
/// # Cancel safety
///
/// Not cancel-safe: what was read and not yet written is lost.
pub async fn copy<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: AsyncRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    let mut way = Way::new(End::Flush);
    poll_fn(|cx| way.poll(cx, reader, writer)).await
}

/// Copies everything from `a` to `b` and from `b` to `a` at the same time, and says how many bytes
/// went each way: a proxy's work. The end of one side's input is passed on by closing the other
/// side's writing, and the other way goes on until its own end. Allocates two buffers of 8 KiB.
///
/// # Errors
///
/// The first error of either side ends both ways.
///
/// # Cancel safety
///
/// Not cancel-safe: what was read and not yet written is lost.
pub async fn copy_bidirectional<A, B>(a: &mut A, b: &mut B) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    let (mut there, mut back) = (Way::new(End::Close), Way::new(End::Close));
    poll_fn(|cx| {
        let sent = there.poll(cx, a, b)?;
        let received = back.poll(cx, b, a)?;
        match (sent, received) {
            (Poll::Ready(sent), Poll::Ready(received)) => Poll::Ready(Ok((sent, received))),
            _ => Poll::Pending,
        }
    })
    .await
}

/// What is done with the writer at the end of input.
#[derive(Clone, Copy)]
enum End {
    Flush,
    Close,
}

enum State {
    Copying,
    Ending,
    Done,
}

/// One way.
struct Way {
    buffer: Box<[u8]>,
    /// What was read and not written: from here to `end`.
    at: usize,
    end: usize,
    count: u64,
    /// Something was written since the last flush.
    unflushed: bool,
    at_end: End,
    state: State,
}

impl Way {
    fn new(at_end: End) -> Way {
        let buffer = vec![0; CAPACITY].into_boxed_slice();
        Way { buffer, at: 0, end: 0, count: 0, unflushed: false, at_end, state: State::Copying }
    }

    /// Goes on; ready again and again once it is done.
    fn poll<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        reader: &mut R,
        writer: &mut W,
    ) -> Poll<io::Result<u64>>
    where
        R: AsyncRead + Unpin + ?Sized,
        W: AsyncWrite + Unpin + ?Sized,
    {
        loop {
            match self.state {
                State::Copying => ready!(self.poll_step(cx, reader, writer))?,
                State::Ending => {
                    let writer = Pin::new(&mut *writer);
                    ready!(match self.at_end {
                        End::Flush => writer.poll_flush(cx),
                        End::Close => writer.poll_close(cx),
                    })?;
                    self.state = State::Done;
                }
                State::Done => return Poll::Ready(Ok(self.count)),
            }
        }
    }

    /// One read or one write. Both may be ready for ever, hence the budget.
    fn poll_step<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        reader: &mut R,
        writer: &mut W,
    ) -> Poll<io::Result<()>>
    where
        R: AsyncRead + Unpin + ?Sized,
        W: AsyncWrite + Unpin + ?Sized,
    {
        ready!(context::check_budget(cx));
        if self.at < self.end {
            let left = &self.buffer[self.at..self.end];
            let count = ready!(Pin::new(writer).poll_write(cx, left))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.at += count;
            self.count += count as u64;
            self.unflushed = true;
        } else {
            let Poll::Ready(count) = Pin::new(reader).poll_read(cx, &mut self.buffer) else {
                // Nobody knows when more comes: what was written must not wait for that.
                if self.unflushed {
                    ready!(Pin::new(writer).poll_flush(cx))?;
                    self.unflushed = false;
                }
                return Poll::Pending;
            };
            (self.at, self.end) = (0, count?);
            if self.end == 0 {
                self.state = State::Ending;
            }
        }
        context::spend();
        Poll::Ready(Ok(()))
    }
}
