//! Writing to a stream, by futures and attempts.

use super::Stream;
use crate::io::{IoBuf, all_empty};
use crate::protocol::Protocol;
use raddle_driver::{Tail, op};
use std::io::{self, IoSlice};

impl<P: Protocol> Stream<P> {
    /// Writes what fits of `buf`, at least one byte; waits if nothing fits. `Ok(0)` if `buf` is
    /// empty.
    ///
    /// # Errors
    ///
    /// `BrokenPipe` after the connection has ended: no signal is raised.
    ///
    /// # Cancel safety
    ///
    /// A dropped future has written nothing.
    #[track_caller]
    pub fn write<'a>(
        &'a self,
        buf: &'a [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        let idle = buf.is_empty();
        let write = self.source().write(buf);
        async move { if idle { Ok(0) } else { write.await } }
    }

    /// As [`write`](Self::write), from several buffers in order. At most 1,024 are looked at.
    ///
    /// # Cancel safety
    ///
    /// A dropped future has written nothing.
    #[track_caller]
    pub fn write_vectored<'a>(
        &'a self,
        bufs: &'a [IoSlice<'_>],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        let idle = all_empty(bufs);
        let write = self.source().write_vectored(bufs);
        async move { if idle { Ok(0) } else { write.await } }
    }

    /// Writes all of `buf`.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write). Some of the bytes may have been written.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: a dropped future may have written some of the bytes.
    pub async fn write_all(&self, buf: &[u8]) -> io::Result<()> {
        let mut at = 0;
        while at < buf.len() {
            at += self.source().write(&buf[at..]).await?;
        }
        Ok(())
    }

    /// Is ready at once: a stream keeps nothing back, so there is nothing to flush. For code that
    /// is written for any writer; [`BufWriter::flush`](crate::io::BufWriter::flush) is another.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn flush(&self) -> io::Result<()> {
        Ok(())
    }

    /// Writes what fits of a buffer that is given away and comes back with the result.
    ///
    /// # Cancel safety
    ///
    /// Not cancel-safe: a dropped future may have written some of the bytes; it drops the buffer.
    pub async fn write_owned<B: IoBuf>(&self, buf: B) -> (io::Result<usize>, B) {
        if buf.init_len() == 0 {
            return (Ok(0), buf);
        }
        op::send(self.source(), buf).await
    }

    /// Writes all of a buffer that is given away and comes back with the result.
    ///
    /// # Cancel safety
    ///
    /// As [`write_owned`](Self::write_owned).
    pub async fn write_all_owned<B: IoBuf>(&self, mut buf: B) -> (io::Result<()>, B) {
        let mut at = 0;
        while at < buf.init_len() {
            let (result, tail) = op::send(self.source(), Tail::new(buf, at)).await;
            buf = tail.into_inner();
            match result {
                Ok(count) => at += count,
                Err(error) => return (Err(error), buf),
            }
        }
        (Ok(()), buf)
    }

    /// Writes what fits of several buffers in order, which come back with the result. Allocates
    /// the message header.
    ///
    /// # Cancel safety
    ///
    /// As [`write_owned`](Self::write_owned).
    pub async fn write_vectored_owned<B: IoBuf>(
        &self,
        bufs: Vec<B>,
    ) -> (io::Result<usize>, Vec<B>) {
        if bufs.iter().all(|buf| buf.init_len() == 0) {
            return (Ok(0), bufs);
        }
        op::send_msg(self.source(), bufs, None).await
    }

    /// Writes what fits now.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if nothing fits.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        self.source().try_write(buf)
    }

    /// As [`try_write`](Self::try_write), from several buffers.
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        if all_empty(bufs) {
            return Ok(0);
        }
        self.source().try_write_vectored(bufs)
    }
}
