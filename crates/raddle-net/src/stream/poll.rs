//! The traits of `futures-io` and the reading trait of this crate, for streams and references.

use super::Stream;
use crate::io::{AsyncRead, AsyncWrite, PollRead, all_empty, as_uninit};
use crate::protocol::Protocol;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll};

impl<P: Protocol> Stream<P> {
    /// Reads as the future [`read`](Self::read) does; room need not be initialised.
    pub fn poll_read_into(
        &self,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        if into.is_empty() {
            return Poll::Ready(Ok(0));
        }
        self.source().poll_read(cx, into)
    }

    /// Looks at what the next read will give.
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        self.source().poll_peek(cx, as_uninit(buf))
    }

    pub(crate) fn read_vectored_at(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        if all_empty(bufs) {
            return Poll::Ready(Ok(0));
        }
        self.source().poll_read_vectored(cx, bufs)
    }

    pub(crate) fn write_at(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        self.source().poll_write(cx, buf)
    }

    pub(crate) fn write_vectored_at(
        &self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if all_empty(bufs) {
            return Poll::Ready(Ok(0));
        }
        self.source().poll_write_vectored(cx, bufs)
    }

    /// The end of writing as `poll_close` means it: a connection that is gone already is closed.
    pub(crate) fn close_writing(&self) -> io::Result<()> {
        match self.source().shutdown(Shutdown::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            result => result,
        }
    }
}

impl<P: Protocol> AsyncRead for &Stream<P> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_read_into(cx, as_uninit(buf))
    }

    fn poll_read_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        self.read_vectored_at(cx, bufs)
    }
}

impl<P: Protocol> AsyncWrite for &Stream<P> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write_at(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write_vectored_at(cx, bufs)
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.close_writing())
    }
}

// SAFETY: passed on to the driver's read, which gives the number of bytes it has written.
unsafe impl<P: Protocol> PollRead for &Stream<P> {
    fn poll_read_uninit(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        self.poll_read_into(cx, into)
    }
}

impl<P: Protocol> AsyncRead for Stream<P> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_read_into(cx, as_uninit(buf))
    }

    fn poll_read_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        self.read_vectored_at(cx, bufs)
    }
}

impl<P: Protocol> AsyncWrite for Stream<P> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write_at(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write_vectored_at(cx, bufs)
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.close_writing())
    }
}

// SAFETY: as above.
unsafe impl<P: Protocol> PollRead for Stream<P> {
    fn poll_read_uninit(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        self.poll_read_into(cx, into)
    }
}
