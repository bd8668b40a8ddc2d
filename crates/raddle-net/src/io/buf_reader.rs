//! A reader with a buffer before it: lines, delimiters, and fewer small reads.

use super::{AsyncBufRead, AsyncRead, AsyncWrite};
use std::fmt;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Bytes of a buffer unless told otherwise.
pub(super) const CAPACITY: usize = 8 << 10;

/// Adds a buffer to a reader. Its one allocation is made here.
///
/// What is in the buffer has left the reader behind: [`into_inner`](Self::into_inner) loses it.
/// Writing goes through unbuffered, so that a stream can be wrapped as a whole.
///
/// ```
/// use raddle_net::io::BufReader;
/// # raddle::run(async {
/// let mut reader = BufReader::new(&b"one\ntwo"[..]);
/// let mut line = String::new();
/// assert_eq!(reader.read_line(&mut line).await?, 4);
/// assert_eq!(line, "one\n");
/// let mut lines = reader.lines();
/// assert_eq!(lines.next_line().await?.as_deref(), Some("two"));
/// assert_eq!(lines.next_line().await?, None);
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub struct BufReader<R> {
    inner: R,
    buffer: Box<[u8]>,
    /// What is in the buffer: from here to `end`.
    at: usize,
    end: usize,
}

impl<R> BufReader<R> {
    /// With a buffer of 8 KiB.
    pub fn new(inner: R) -> BufReader<R> {
        BufReader::with_capacity(CAPACITY, inner)
    }

    /// With a buffer of `capacity` bytes, at least one.
    pub fn with_capacity(capacity: usize, inner: R) -> BufReader<R> {
        let buffer = vec![0; capacity.max(1)].into_boxed_slice();
        BufReader { inner, buffer, at: 0, end: 0 }
    }

    /// The reader.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// The reader. What is read from it directly misses what is in the buffer.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// The reader, without what is in the buffer.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// What was read ahead.
    pub fn buffer(&self) -> &[u8] {
        &self.buffer[self.at..self.end]
    }

    fn take(&mut self, count: usize) {
        self.at = (self.at + count).min(self.end);
    }
}

impl<R: AsyncRead + Unpin> BufReader<R> {
    /// The buffer, filled if it was empty; empty at the end of input.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn fill_buf(&mut self) -> io::Result<&[u8]> {
        poll_fn(|cx| self.poll_fill(cx)).await?;
        Ok(self.buffer())
    }

    /// Marks `count` bytes of the buffer as read.
    pub fn consume(&mut self, count: usize) {
        self.take(count);
    }

    /// Reads into `buf`; `Ok(0)` is the end of input.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| self.poll_copy(cx, buf)).await
    }

    /// Reads exactly as many bytes as `buf` has.
    ///
    /// # Errors
    ///
    /// `UnexpectedEof` if the input ends before.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: what was read is in `buf`, and how much it is gets lost.
    pub async fn read_exact(&mut self, buf: &mut [u8]) -> io::Result<()> {
        let mut at = 0;
        while at < buf.len() {
            match self.read(&mut buf[at..]).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => at += count,
            }
        }
        Ok(())
    }

    /// Appends all bytes up to the end of input to `into`, and says how many.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: what was read is in `into`.
    pub async fn read_to_end(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        let begin = into.len();
        while !self.fill_buf().await?.is_empty() {
            into.extend_from_slice(self.buffer());
            self.at = self.end;
        }
        Ok(into.len() - begin)
    }

    /// Appends all text up to the end of input to `into`, and says how many bytes.
    ///
    /// # Errors
    ///
    /// `InvalidData` if it is not UTF-8; `into` is then as it was.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: what was read is lost.
    pub async fn read_to_string(&mut self, into: &mut String) -> io::Result<usize> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes).await?;
        push_text(bytes, into)
    }

    /// Appends bytes to `into` up to and with the next `delimiter`, or the end of input, and says
    /// how many: 0 at the end. There is no limit to their number.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: what was read is in `into`, and a call with the same `into` goes on.
    pub async fn read_until(&mut self, delimiter: u8, into: &mut Vec<u8>) -> io::Result<usize> {
        let begin = into.len();
        poll_fn(|cx| self.poll_until(cx, delimiter, into)).await?;
        Ok(into.len() - begin)
    }

    /// Appends the next line to `into`, with its `\n` if it has one, and says how many bytes: 0 at
    /// the end of input. There is no limit to its length.
    ///
    /// # Errors
    ///
    /// `InvalidData` if it is not UTF-8: it is read, and `into` is as it was.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: the part of the line that was read is lost; [`lines`](Self::lines) keeps
    /// it.
    pub async fn read_line(&mut self, into: &mut String) -> io::Result<usize> {
        let mut bytes = Vec::new();
        self.read_until(b'\n', &mut bytes).await?;
        push_text(bytes, into)
    }

    /// Fills the buffer if it is empty.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.at == self.end {
            let count = ready!(Pin::new(&mut self.inner).poll_read(cx, &mut self.buffer))?;
            assert!(count <= self.buffer.len(), "a reader claims more bytes than it had room for");
            (self.at, self.end) = (0, count);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_copy(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        if self.at == self.end && into.len() >= self.buffer.len() {
            return Pin::new(&mut self.inner).poll_read(cx, into);
        }
        ready!(self.poll_fill(cx))?;
        let count = into.len().min(self.end - self.at);
        into[..count].copy_from_slice(&self.buffer[self.at..self.at + count]);
        self.take(count);
        Poll::Ready(Ok(count))
    }

    /// Appends up to and with the delimiter; ready at the end of input too.
    pub(super) fn poll_until(
        &mut self,
        cx: &mut Context<'_>,
        delimiter: u8,
        into: &mut Vec<u8>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_fill(cx))?;
            let there = self.buffer();
            let found = there.iter().position(|byte| *byte == delimiter);
            let count = found.map_or(there.len(), |at| at + 1);
            into.extend_from_slice(&there[..count]);
            self.take(count);
            if found.is_some() || count == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

/// Appends bytes that must be text.
pub(crate) fn push_text(bytes: Vec<u8>, into: &mut String) -> io::Result<usize> {
    let text = String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the input is not UTF-8"))?;
    into.push_str(&text);
    Ok(text.len())
}

impl<R: AsyncRead + Unpin> AsyncRead for BufReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_copy(cx, buf)
    }
}

impl<R: AsyncRead + Unpin> AsyncBufRead for BufReader<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        ready!(this.poll_fill(cx))?;
        Poll::Ready(Ok(this.buffer()))
    }

    fn consume(mut self: Pin<&mut Self>, count: usize) {
        self.take(count);
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for BufReader<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_close(cx)
    }
}

impl<R: fmt::Debug> fmt::Debug for BufReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufReader")
            .field("inner", &self.inner)
            .field("buffered", &(self.end - self.at))
            .finish_non_exhaustive()
    }
}
