//! The traits of `futures-io` and the reading trait of this crate, for halves.

use super::{ReadHalf, WriteHalf};
use crate::io::{AsyncRead, AsyncWrite, PollRead, as_uninit};
use crate::protocol::Protocol;
use crate::stream::Stream;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};

impl<R, P> AsyncRead for ReadHalf<R>
where
    R: Deref<Target = Stream<P>>,
    P: Protocol,
{
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_read_into(cx, as_uninit(buf))
    }

    fn poll_read_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        self.0.read_vectored_at(cx, bufs)
    }
}

// SAFETY: passed on to the driver's read, which gives the number of bytes it has written.
unsafe impl<R, P> PollRead for ReadHalf<R>
where
    R: Deref<Target = Stream<P>>,
    P: Protocol,
{
    fn poll_read_uninit(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_read_into(cx, into)
    }
}

impl<R, P> AsyncWrite for WriteHalf<R>
where
    R: Deref<Target = Stream<P>>,
    P: Protocol,
{
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.write_at(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.0.write_vectored_at(cx, bufs)
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.close_writing())
    }
}
