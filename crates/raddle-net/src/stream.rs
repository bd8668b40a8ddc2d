//! A connected stream of bytes, written once for all protocols.
//!
//! [`TcpStream`](crate::TcpStream) and [`UnixStream`](crate::UnixStream) are names for
//! [`Stream`]. It has three faces, which may be mixed:
//!
//! * futures that borrow a buffer ([`read`](Stream::read), [`write`](Stream::write) and so on).
//!   They take `&self`: any number of tasks may use one stream, and each gets what it waits for.
//! * futures that take a buffer and give it back ([`read_owned`](Stream::read_owned) and so on).
//! * poll functions and the traits of `futures-io`, for the stream and for `&stream`. Of the tasks
//!   that poll one direction so, the latest is woken.
//!
//! **Cancel safety.** Dropping the future of a read loses no byte: what was received belongs to
//! the stream and comes with the next read. Dropping the future of a single write (`write`,
//! `write_vectored`) that has not ended writes nothing. What differs says so.
//!
//! **Close.** Dropping a stream ends the connection at once. If its descriptor was handed out
//! ([`as_fd`](AsFd::as_fd) and the like), only this descriptor is closed.

use crate::convert::ConvertError;
use crate::protocol::Protocol;
use raddle_driver::{Refused, Source, SourceKind};
use socket2::SockRef;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

mod poll;
mod read;
mod readiness;
mod write;

/// A connected stream. See the [module](self).
pub struct Stream<P: Protocol> {
    source: Source,
    _protocol: PhantomData<fn() -> P>,
}

impl<P: Protocol> Stream<P> {
    pub(crate) fn from_source(source: Source) -> Stream<P> {
        Stream { source, _protocol: PhantomData }
    }

    /// A connected socket. The descriptor comes back if there is no driver here.
    pub(crate) fn from_fd(fd: OwnedFd) -> Result<Stream<P>, Refused> {
        Source::from_fd(fd, SourceKind::Stream).map(Stream::from_source)
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The socket for options: not a way by which the descriptor gets known elsewhere.
    pub(crate) fn options(&self) -> SockRef<'_> {
        SockRef::from(&self.source)
    }

    /// Takes a stream of std over. It is made non-blocking, whatever it was before, so that it
    /// can never stop a worker.
    ///
    /// Duplicates of the descriptor ([`try_clone`](std::net::TcpStream::try_clone)) become
    /// non-blocking with it, since the mode belongs to the open socket.
    ///
    /// # Errors
    ///
    /// This thread belongs to no runtime, or the mode cannot be set. The stream comes back as it
    /// was.
    pub fn from_std(stream: P::StdStream) -> Result<Stream<P>, ConvertError<P::StdStream>> {
        Stream::from_fd(stream.into())
            .map_err(|refused| ConvertError::new(refused.error, refused.fd.into()))
    }

    /// The stream as std's, still in non-blocking mode. Waits for no more than that the kernel
    /// lets go of a read that was given up.
    ///
    /// # Errors
    ///
    /// A write that was given up is still under way, or bytes were received that nobody has read
    /// yet. The stream comes back.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the stream.
    pub async fn into_std(self) -> Result<P::StdStream, ConvertError<Stream<P>>> {
        std::future::poll_fn(|cx| self.source.poll_unused(cx)).await;
        match self.source.into_fd() {
            Ok(fd) => Ok(fd.into()),
            Err(source) => Err(ConvertError::busy(Stream::from_source(source))),
        }
    }

    /// The address of this end.
    pub fn local_addr(&self) -> io::Result<P::Addr> {
        P::from_socket2(&self.options().local_addr()?)
    }

    /// The address of the other end.
    ///
    /// # Errors
    ///
    /// `NotConnected` if the other end has reset the connection.
    pub fn peer_addr(&self) -> io::Result<P::Addr> {
        P::from_socket2(&self.options().peer_addr()?)
    }

    /// The error that is stored at the socket, if there is one. It is cleared.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.source.take_error()
    }

    /// Ends reading, writing or both, for this and the other end.
    ///
    /// After `Shutdown::Write` the other end reads what was written and then the end of input;
    /// this end may go on reading. Does not wait.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.source.shutdown(how)
    }
}

impl<P: Protocol> AsFd for Stream<P> {
    /// The descriptor. From now on it counts as known elsewhere: dropping the stream closes the
    /// descriptor, but ends the connection only if no duplicate is left. A read that was given up
    /// may still take bytes from a duplicate, until the kernel has cancelled it:
    /// [`into_std`](Self::into_std) waits for that.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.source.set_shared();
        self.source.as_fd()
    }
}

impl<P: Protocol> AsRawFd for Stream<P> {
    /// As [`as_fd`](AsFd::as_fd).
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl<P: Protocol> fmt::Debug for Stream<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct(P::STREAM);
        if let Ok(local) = self.local_addr() {
            debug.field("local", &local);
        }
        if let Ok(peer) = self.peer_addr() {
            debug.field("peer", &peer);
        }
        debug.field("fd", &self.source.as_raw_fd()).finish()
    }
}
