//! A socket that listens, written once for all stream protocols.
//!
//! [`TcpListener`](crate::TcpListener) and [`UnixListener`](crate::UnixListener) are names for
//! [`Listener`]. Any number of tasks may accept from one listener.
//!
//! **Shortage of descriptors.** If a connection cannot be accepted because the process or the
//! system has no descriptor left, the shortage is reported once, by an error; from then on
//! `accept` waits, tries again after 50 ms and then every 100 ms, and goes on by itself when the
//! shortage is over. A loop that only logs errors and accepts again therefore neither spins nor
//! stops.

use crate::convert::ConvertError;
use crate::protocol::Protocol;
use crate::stream::Stream;
use futures_core::Stream as StreamTrait;
use raddle_base::shim::atomic::{AtomicBool, Ordering};
use raddle_driver::{Refused, Source, SourceKind};
use socket2::SockRef;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A listening socket. See the [module](self).
pub struct Listener<P: Protocol> {
    source: Source,
    closed: AtomicBool,
    _protocol: PhantomData<fn() -> P>,
}

impl<P: Protocol> Listener<P> {
    fn from_source(source: Source) -> Listener<P> {
        Listener { source, closed: AtomicBool::new(false), _protocol: PhantomData }
    }

    /// A listening socket. The descriptor comes back if there is no driver here.
    pub(crate) fn from_fd(fd: OwnedFd) -> Result<Listener<P>, Refused> {
        Source::from_fd(fd, SourceKind::Listener).map(Listener::from_source)
    }

    /// The socket for options: not a way by which the descriptor gets known elsewhere.
    pub(crate) fn options(&self) -> SockRef<'_> {
        SockRef::from(&self.source)
    }

    /// Takes a listener of std over. It is made non-blocking, whatever it was before.
    ///
    /// # Errors
    ///
    /// This thread belongs to no runtime, or the mode cannot be set. The listener comes back as
    /// it was.
    pub fn from_std(listener: P::StdListener) -> Result<Listener<P>, ConvertError<P::StdListener>> {
        Listener::from_fd(listener.into())
            .map_err(|refused| ConvertError::new(refused.error, refused.fd.into()))
    }

    /// The listener as std's, still in non-blocking mode. Waits for no more than that the kernel
    /// lets go of a read that was given up.
    ///
    /// # Errors
    ///
    /// An operation is still under way, or a connection was accepted that nobody has taken yet.
    /// The listener comes back.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the listener.
    pub async fn into_std(self) -> Result<P::StdListener, ConvertError<Listener<P>>> {
        std::future::poll_fn(|cx| self.source.poll_unused(cx)).await;
        match self.source.into_fd() {
            Ok(fd) => Ok(fd.into()),
            Err(source) => Err(ConvertError::busy(Listener::from_source(source))),
        }
    }

    /// Accepts a connection: the stream and the address of its other end. Tasks that wait are
    /// all told of a new connection; the first to try gets it.
    ///
    /// # Errors
    ///
    /// A shortage of descriptors, once (see the [module](self)); a connection that has ended
    /// before it was accepted (`ConnectionAborted`); the listener was closed
    /// (`NotConnected`). Only after the last it makes no sense to accept again.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no connection: one that is accepted late stays with the
    /// listener and is handed out first.
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(Stream<P>, P::Addr)>> + Send {
        let accept = self.source.accept();
        async move {
            let (fd, addr) = accept.await?;
            Ok((Stream::from_fd(fd)?, P::from_raw(&addr)?))
        }
    }

    /// As [`accept`](Self::accept). Of the tasks that poll, the latest is woken.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(Stream<P>, P::Addr)>> {
        let (fd, addr) = ready!(self.source.poll_accept(cx))?;
        Poll::Ready(Ok((Stream::from_fd(fd)?, P::from_raw(&addr)?)))
    }

    /// The connections as a stream of results. It goes on after errors and ends when the listener
    /// is closed. Of the tasks that poll such streams of one listener, the latest is woken; tasks
    /// that share a listener call [`accept`](Self::accept).
    pub fn incoming(&self) -> Incoming<'_, P> {
        Incoming { listener: self }
    }

    /// The address that is listened at.
    pub fn local_addr(&self) -> io::Result<P::Addr> {
        P::from_socket2(&self.options().local_addr()?)
    }

    /// The error that is stored at the socket, if there is one. It is cleared.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.source.take_error()
    }

    /// Closes the listener while others may be accepting from it: pending and later calls of
    /// [`accept`](Self::accept) end with a `NotConnected` error. New connections are refused
    /// from now on; those in the queue of the kernel are reset when the listener is dropped.
    pub fn close(&self) {
        // Release, paired with the load in `poll_next`: whoever is woken by the close sees it.
        self.closed.store(true, Ordering::Release);
        self.source.close();
    }
}

impl<P: Protocol> AsFd for Listener<P> {
    /// The descriptor. From now on it counts as known elsewhere: dropping the listener then only
    /// closes the descriptor. An accept that was given up may still take one connection and close
    /// it, until the kernel has cancelled it: [`into_std`](Self::into_std) waits for that.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.source.set_shared();
        self.source.as_fd()
    }
}

impl<P: Protocol> AsRawFd for Listener<P> {
    /// As [`as_fd`](AsFd::as_fd).
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl<P: Protocol> fmt::Debug for Listener<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct(P::LISTENER);
        if let Ok(local) = self.local_addr() {
            debug.field("local", &local);
        }
        debug.field("fd", &self.source.as_raw_fd()).finish()
    }
}

/// The connections of a listener: see [`Listener::incoming`].
#[derive(Debug)]
pub struct Incoming<'a, P: Protocol> {
    listener: &'a Listener<P>,
}

impl<P: Protocol> Incoming<'_, P> {
    /// The next connection; `None` when the listener was closed.
    ///
    /// # Cancel safety
    ///
    /// As [`Listener::accept`].
    pub async fn next(&mut self) -> Option<io::Result<Stream<P>>> {
        let accepted = self.listener.accept().await;
        self.item(accepted)
    }

    fn item(&self, accepted: io::Result<(Stream<P>, P::Addr)>) -> Option<io::Result<Stream<P>>> {
        match accepted {
            // Acquire, paired with the store in `close`.
            Err(_) if self.listener.closed.load(Ordering::Acquire) => None,
            accepted => Some(accepted.map(|(stream, _)| stream)),
        }
    }
}

impl<P: Protocol> StreamTrait for Incoming<'_, P> {
    type Item = io::Result<Stream<P>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let accepted = ready!(self.listener.poll_accept(cx));
        Poll::Ready(self.item(accepted))
    }
}
