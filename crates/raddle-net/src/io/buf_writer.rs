//! A writer with a buffer before it: many small writes become few.

use super::buf_reader::CAPACITY;
use super::{AsyncRead, AsyncWrite};
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Adds a buffer to a writer. Its one allocation is made here.
///
/// What is in the buffer is written when there is no room for more, and by
/// [`flush`](Self::flush), which is to be called before the writer waits for an answer and at the
/// end: dropping loses what was not flushed. Reading goes through, so that a stream can be wrapped
/// as a whole.
pub struct BufWriter<W> {
    inner: W,
    buffer: Vec<u8>,
    /// So much of the buffer was written.
    written: usize,
}

impl<W> BufWriter<W> {
    /// With a buffer of 8 KiB.
    pub fn new(inner: W) -> BufWriter<W> {
        BufWriter::with_capacity(CAPACITY, inner)
    }

    /// With a buffer of `capacity` bytes; without any, writes go through.
    pub fn with_capacity(capacity: usize, inner: W) -> BufWriter<W> {
        BufWriter { inner, buffer: Vec::with_capacity(capacity), written: 0 }
    }

    /// The writer.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// The writer. What is written to it directly overtakes what is in the buffer.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// The writer, without what is in the buffer.
    pub fn into_inner(self) -> W {
        self.inner
    }

    /// What waits to be written.
    pub fn buffer(&self) -> &[u8] {
        &self.buffer[self.written..]
    }
}

impl<W: AsyncWrite + Unpin> BufWriter<W> {
    /// Takes some of `buf`; waits only if the buffer has no room.
    ///
    /// # Cancel safety
    ///
    /// A dropped future that has not ended took nothing of `buf`.
    pub async fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        poll_fn(|cx| self.poll_take(cx, buf)).await
    }

    /// Takes all of `buf`.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: some of it may have been taken.
    pub async fn write_all(&mut self, buf: &[u8]) -> io::Result<()> {
        let mut at = 0;
        while at < buf.len() {
            match self.write(&buf[at..]).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => at += count,
            }
        }
        Ok(())
    }

    /// Writes what is in the buffer, and flushes the writer.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: what was not written stays in the buffer.
    pub async fn flush(&mut self) -> io::Result<()> {
        poll_fn(|cx| Pin::new(&mut *self).poll_flush(cx)).await
    }

    /// Flushes, and closes the writer: for a stream, the end of writing.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn shutdown(&mut self) -> io::Result<()> {
        poll_fn(|cx| Pin::new(&mut *self).poll_close(cx)).await
    }

    /// Writes what is in the buffer.
    fn poll_empty(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.buffer.len() {
            let left = &self.buffer[self.written..];
            match ready!(Pin::new(&mut self.inner).poll_write(cx, left))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
        }
        self.buffer.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }

    fn poll_take(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if buf.len() > self.buffer.capacity() - self.buffer.len() {
            ready!(self.poll_empty(cx))?;
        }
        if buf.len() >= self.buffer.capacity() {
            return Pin::new(&mut self.inner).poll_write(cx, buf);
        }
        self.buffer.extend_from_slice(buf);
        Poll::Ready(Ok(buf.len()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for BufWriter<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_take(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_empty(cx))?;
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_empty(cx))?;
        Pin::new(&mut self.inner).poll_close(cx)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for BufWriter<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<W: fmt::Debug> fmt::Debug for BufWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufWriter")
            .field("inner", &self.inner)
            .field("buffered", &(self.buffer.len() - self.written))
            .finish_non_exhaustive()
    }
}
