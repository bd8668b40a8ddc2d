//! hyper's reading and writing, straight on the poll face of raddle's streams.

use hyper::rt::{Read, ReadBufCursor, Write};
use raddle::net::io::{AsyncWrite, PollRead};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A stream of raddle as hyper takes it.
///
/// Reads go straight into hyper's buffer, which need not be initialised. For streams that are not
/// raddle's own, wrap a [`ZeroFilled`](raddle::net::io::ZeroFilled).
#[derive(Clone, Copy, Debug, Default)]
pub struct RaddleIo<T> {
    inner: T,
}

impl<T> RaddleIo<T> {
    /// Wraps a stream.
    pub fn new(inner: T) -> RaddleIo<T> {
        RaddleIo { inner }
    }

    /// The stream.
    pub fn into_inner(self) -> T {
        self.inner
    }

    /// The stream.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// The stream.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T: PollRead + Unpin> Read for RaddleIo<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: a `PollRead` never writes uninitialised bytes.
        let into = unsafe { buf.as_mut() };
        let count = ready!(Pin::new(&mut self.inner).poll_read_uninit(cx, into))?;
        // SAFETY: a `PollRead` has initialised the bytes it counts, and counts no more than
        // there was room for.
        unsafe { buf.advance(count) };
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> Write for RaddleIo<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_close(cx)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }
}
