//! Reading from a stream, by futures and attempts.

use super::Stream;
use crate::io::{IoBufMut, all_empty, push_text};
use crate::protocol::Protocol;
use raddle_driver::op;
use std::io::{self, IoSliceMut};

impl<P: Protocol> Stream<P> {
    /// Reads what is there into `buf`, at least one byte; waits if there is nothing.
    ///
    /// `Ok(0)` is the end of input, or `buf` is empty (then nothing is waited for).
    ///
    /// # Errors
    ///
    /// What the kernel says (`ConnectionReset` and so on), each error once.
    ///
    /// # Cancel safety
    ///
    /// A dropped future has read nothing.
    #[track_caller]
    pub fn read<'a>(
        &'a self,
        buf: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        let idle = buf.is_empty();
        let read = self.source().read(buf);
        async move { if idle { Ok(0) } else { read.await } }
    }

    /// As [`read`](Self::read), into several buffers, each filled before the next.
    ///
    /// # Cancel safety
    ///
    /// A dropped future has read nothing.
    #[track_caller]
    pub fn read_vectored<'a>(
        &'a self,
        bufs: &'a mut [IoSliceMut<'_>],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        let idle = all_empty(bufs);
        let read = self.source().read_vectored(bufs);
        async move { if idle { Ok(0) } else { read.await } }
    }

    /// Reads exactly as many bytes as `buf` has.
    ///
    /// # Errors
    ///
    /// `UnexpectedEof` if the input ends before; otherwise as [`read`](Self::read). What was read
    /// until then is in `buf`, but how much that is cannot be told.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: a dropped future may have taken some of the bytes.
    pub async fn read_exact(&self, buf: &mut [u8]) -> io::Result<()> {
        let mut at = 0;
        while at < buf.len() {
            match self.source().read(&mut buf[at..]).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => at += count,
            }
        }
        Ok(())
    }

    /// Appends all that comes until the end of input to `into`, and says how much that was.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe, but nothing is lost: what was read is in `into`.
    pub async fn read_to_end(&self, into: &mut Vec<u8>) -> io::Result<usize> {
        let begin = into.len();
        loop {
            let len = into.len();
            into.resize(len + into.capacity().saturating_sub(len).clamp(32, 64 * 1024), 0);
            let mut fill = Fill { len, into };
            match self.source().read(&mut fill.into[len..]).await? {
                0 => break,
                count => fill.len += count,
            }
        }
        Ok(into.len() - begin)
    }

    /// Appends all text that comes until the end of input to `into`, and says how many bytes.
    ///
    /// # Errors
    ///
    /// `InvalidData` if it is not UTF-8; `into` is then as it was.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: what was read is lost.
    pub async fn read_to_string(&self, into: &mut String) -> io::Result<usize> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes).await?;
        push_text(bytes, into)
    }

    /// Reads into a buffer that is given away and comes back with the result. A `Vec` is filled
    /// from its beginning up to its capacity, and its length set to what was read.
    ///
    /// # Cancel safety
    ///
    /// A dropped future has read nothing; it drops the buffer.
    pub async fn read_owned<B: IoBufMut>(&self, buf: B) -> (io::Result<usize>, B) {
        if buf.capacity() == 0 {
            return (Ok(0), buf);
        }
        op::recv(self.source(), buf).await
    }

    /// As [`read`](Self::read), leaving the bytes to the next read.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    #[track_caller]
    pub fn peek<'a>(
        &'a self,
        buf: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        let idle = buf.is_empty();
        let peek = self.source().peek(buf);
        async move { if idle { Ok(0) } else { peek.await } }
    }

    /// Reads what is there now.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is nothing.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        self.source().try_read(buf)
    }

    /// As [`try_read`](Self::try_read), into several buffers.
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        if all_empty(bufs) {
            return Ok(0);
        }
        self.source().try_read_vectored(bufs)
    }
}

/// Cuts a vector to what was filled, however the read ends.
struct Fill<'a> {
    into: &'a mut Vec<u8>,
    len: usize,
}

impl Drop for Fill<'_> {
    fn drop(&mut self) {
        self.into.truncate(self.len);
    }
}
