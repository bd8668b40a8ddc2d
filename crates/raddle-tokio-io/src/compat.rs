//! One wrapper for both directions: it has the traits that the wrapped type lacks.

use raddle::net::io as futures_io;
use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io as tokio_io;

/// Gives a type with the traits of `futures-io` those of tokio, and the other way round.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compat<T> {
    inner: T,
    /// Where a seek that tokio has started goes to.
    seek: Option<SeekFrom>,
}

impl<T> Compat<T> {
    /// Wraps a stream or file.
    pub fn new(inner: T) -> Compat<T> {
        Compat { inner, seek: None }
    }

    /// What was wrapped.
    pub fn into_inner(self) -> T {
        self.inner
    }

    /// What is wrapped.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// What is wrapped.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T: Unpin> Compat<T> {
    fn pinned(self: Pin<&mut Self>) -> Pin<&mut T> {
        Pin::new(&mut self.get_mut().inner)
    }
}

impl<T: futures_io::AsyncRead + Unpin> tokio_io::AsyncRead for Compat<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut tokio_io::ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // Zeroes what was never initialised, once for each buffer.
        let count = ready!(self.pinned().poll_read(cx, buf.initialize_unfilled()))?;
        buf.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl<T: futures_io::AsyncWrite + Unpin> tokio_io::AsyncWrite for Compat<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.pinned().poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pinned().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pinned().poll_close(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.pinned().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

impl<T: futures_io::AsyncSeek + Unpin> tokio_io::AsyncSeek for Compat<T> {
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        self.seek = Some(to);
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        // Without a seek that was started this is a question for the position.
        let to = self.seek.unwrap_or(SeekFrom::Current(0));
        let result = ready!(self.as_mut().pinned().poll_seek(cx, to));
        self.seek = None;
        Poll::Ready(result)
    }
}

impl<T: tokio_io::AsyncRead + Unpin> futures_io::AsyncRead for Compat<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut buf = tokio_io::ReadBuf::new(buf);
        ready!(self.pinned().poll_read(cx, &mut buf))?;
        Poll::Ready(Ok(buf.filled().len()))
    }
}

impl<T: tokio_io::AsyncWrite + Unpin> futures_io::AsyncWrite for Compat<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.pinned().poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.pinned().poll_write_vectored(cx, bufs)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pinned().poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pinned().poll_shutdown(cx)
    }
}
