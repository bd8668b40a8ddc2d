//! The methods of halves: those of the stream, each for the direction it belongs to.

use super::{ReadHalf, WriteHalf};
use crate::io::{Interest, IoBuf, IoBufMut};
use crate::protocol::Protocol;
use crate::ready::Ready;
use crate::stream::Stream;
use std::io::{self, IoSlice, IoSliceMut};
use std::ops::Deref;
use std::task::{Context, Poll};

impl<R, P> ReadHalf<R>
where
    R: Deref<Target = Stream<P>>,
    P: Protocol,
{
    /// See [`Stream::read`].
    #[track_caller]
    pub fn read<'a>(
        &'a self,
        buf: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.0.read(buf)
    }

    /// See [`Stream::read_vectored`].
    #[track_caller]
    pub fn read_vectored<'a>(
        &'a self,
        bufs: &'a mut [IoSliceMut<'_>],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.0.read_vectored(bufs)
    }

    /// See [`Stream::read_exact`].
    pub async fn read_exact(&self, buf: &mut [u8]) -> io::Result<()> {
        self.0.read_exact(buf).await
    }

    /// See [`Stream::read_to_end`].
    pub async fn read_to_end(&self, into: &mut Vec<u8>) -> io::Result<usize> {
        self.0.read_to_end(into).await
    }

    /// See [`Stream::read_to_string`].
    pub async fn read_to_string(&self, into: &mut String) -> io::Result<usize> {
        self.0.read_to_string(into).await
    }

    /// See [`Stream::read_owned`].
    pub async fn read_owned<B: IoBufMut>(&self, buf: B) -> (io::Result<usize>, B) {
        self.0.read_owned(buf).await
    }

    /// See [`Stream::peek`].
    #[track_caller]
    pub fn peek<'a>(
        &'a self,
        buf: &'a mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.0.peek(buf)
    }

    /// See [`Stream::poll_peek`].
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.poll_peek(cx, buf)
    }

    /// See [`Stream::readable`].
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> + Send {
        self.0.readable()
    }

    /// See [`Stream::ready`].
    #[track_caller]
    pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> + Send {
        self.0.ready(interest)
    }

    /// See [`Stream::try_read`].
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buf)
    }

    /// See [`Stream::try_read_vectored`].
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.0.try_read_vectored(bufs)
    }

    /// See [`Stream::local_addr`].
    pub fn local_addr(&self) -> io::Result<P::Addr> {
        self.0.local_addr()
    }

    /// See [`Stream::peer_addr`].
    pub fn peer_addr(&self) -> io::Result<P::Addr> {
        self.0.peer_addr()
    }
}

impl<R, P> WriteHalf<R>
where
    R: Deref<Target = Stream<P>>,
    P: Protocol,
{
    /// See [`Stream::write`].
    #[track_caller]
    pub fn write<'a>(
        &'a self,
        buf: &'a [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.0.write(buf)
    }

    /// See [`Stream::write_vectored`].
    #[track_caller]
    pub fn write_vectored<'a>(
        &'a self,
        bufs: &'a [IoSlice<'_>],
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.0.write_vectored(bufs)
    }

    /// See [`Stream::write_all`].
    pub async fn write_all(&self, buf: &[u8]) -> io::Result<()> {
        self.0.write_all(buf).await
    }

    /// See [`Stream::flush`].
    pub async fn flush(&self) -> io::Result<()> {
        self.0.flush().await
    }

    /// See [`Stream::write_owned`].
    pub async fn write_owned<B: IoBuf>(&self, buf: B) -> (io::Result<usize>, B) {
        self.0.write_owned(buf).await
    }

    /// See [`Stream::write_all_owned`].
    pub async fn write_all_owned<B: IoBuf>(&self, buf: B) -> (io::Result<()>, B) {
        self.0.write_all_owned(buf).await
    }

    /// See [`Stream::writable`].
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> + Send {
        self.0.writable()
    }

    /// See [`Stream::ready`].
    #[track_caller]
    pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> + Send {
        self.0.ready(interest)
    }

    /// See [`Stream::try_write`].
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.0.try_write(buf)
    }

    /// See [`Stream::try_write_vectored`].
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.try_write_vectored(bufs)
    }

    /// Ends writing: see [`Stream::shutdown`].
    pub fn shutdown(&self) -> io::Result<()> {
        self.0.shutdown(std::net::Shutdown::Write)
    }

    /// See [`Stream::local_addr`].
    pub fn local_addr(&self) -> io::Result<P::Addr> {
        self.0.local_addr()
    }

    /// See [`Stream::peer_addr`].
    pub fn peer_addr(&self) -> io::Result<P::Addr> {
        self.0.peer_addr()
    }
}

impl<R, P> AsRef<Stream<P>> for ReadHalf<R>
where
    R: Deref<Target = Stream<P>>,
    P: Protocol,
{
    fn as_ref(&self) -> &Stream<P> {
        &self.0
    }
}

impl<R, P> AsRef<Stream<P>> for WriteHalf<R>
where
    R: Deref<Target = Stream<P>>,
    P: Protocol,
{
    fn as_ref(&self) -> &Stream<P> {
        &self.0
    }
}
