//! What every source has, whichever backend serves it: the descriptor, its kind, its waiters.

use crate::sys::{errno, file, sigpipe, socket};
use crate::waiters::Waiters;
use raddle_base::shim::atomic::{AtomicBool, Ordering};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

/// What a descriptor is, which decides by which calls it is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A connected socket of a stream protocol, or one that is going to be connected.
    Stream,
    /// A socket that listens.
    Listener,
    /// A socket of a datagram protocol.
    Datagram,
    /// A pipe, a terminal, a character device: read and written where it stands.
    Pipe,
    /// Something whose readiness is all that is asked for (an inotify descriptor, a pidfd).
    Other,
}

impl SourceKind {
    /// Whether calls on sockets apply.
    pub(crate) fn is_socket(self) -> bool {
        matches!(self, SourceKind::Stream | SourceKind::Listener | SourceKind::Datagram)
    }
}

/// What an attempt came to.
pub(crate) enum Attempt<T> {
    /// The outcome.
    Done(io::Result<T>),
    /// Nothing to be had now: wait, then try again.
    Blocked,
}

impl<T> Attempt<T> {
    /// "Would block" becomes [`Attempt::Blocked`].
    #[inline]
    pub(crate) fn from(result: io::Result<T>) -> Attempt<T> {
        match result {
            Err(error) if errno::would_block(&error) => Attempt::Blocked,
            result => Attempt::Done(result),
        }
    }
}

/// The backend-independent part of a source.
pub(crate) struct Shell {
    fd: OwnedFd,
    kind: SourceKind,
    shared: AtomicBool,
    pub(crate) waiters: Waiters,
}

impl Shell {
    /// Takes the descriptor and makes it non-blocking.
    ///
    /// # Errors
    ///
    /// The mode could not be set; the descriptor comes back as the caller gave it.
    pub(crate) fn new(fd: OwnedFd, kind: SourceKind) -> Result<Shell, (io::Error, OwnedFd)> {
        match file::set_nonblocking(fd.as_fd(), true) {
            Ok(()) => {
                Ok(Shell { fd, kind, shared: AtomicBool::new(false), waiters: Waiters::new() })
            }
            Err(error) => Err((error, fd)),
        }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn raw(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    pub(crate) fn kind(&self) -> SourceKind {
        self.kind
    }

    /// The open file is known elsewhere too: closing must not end it for others.
    pub(crate) fn set_shared(&self) {
        // Relaxed: set by a caller that holds the source, which is closed only after that.
        self.shared.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_shared(&self) -> bool {
        // Relaxed: as above.
        self.shared.load(Ordering::Relaxed)
    }

    /// Reads by the call that fits the kind.
    #[inline]
    pub(crate) fn read(&self, into: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
        if self.kind.is_socket() {
            socket::recv(self.fd(), into)
        } else {
            file::read(self.fd(), into)
        }
    }

    /// As [`read`](Self::read), into several buffers.
    pub(crate) fn read_vectored(&self, into: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        file::read_vectored(self.fd(), into)
    }

    /// Writes by the call that fits the kind; never raises SIGPIPE.
    #[inline]
    pub(crate) fn write(&self, from: &[u8]) -> io::Result<usize> {
        if self.kind.is_socket() {
            socket::send(self.fd(), from)
        } else {
            sigpipe::write_vectored(self.fd(), &[IoSlice::new(from)])
        }
    }

    /// As [`write`](Self::write), from several buffers.
    pub(crate) fn write_vectored(&self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.kind.is_socket() {
            socket::send_vectored(self.fd(), from)
        } else {
            sigpipe::write_vectored(self.fd(), from)
        }
    }

    /// Ends both directions at the protocol, unless the open file is known elsewhere.
    pub(crate) fn hang_up(&self) {
        if self.kind.is_socket() && !self.is_shared() {
            // Not connected, or ended by the other side already: nothing to end.
            let _ = socket::shutdown(self.fd(), std::net::Shutdown::Both);
        }
    }

    /// Bytes were received that nobody will read: the close is going to tell the peer, by a reset,
    /// unless the open file is known elsewhere.
    pub(crate) fn reset_on_close(&self) {
        if self.kind == SourceKind::Stream && !self.is_shared() {
            // It matters to connections that are there; others refuse it.
            let _ = socket::set_linger(self.fd(), Duration::ZERO);
        }
    }

    /// As [`reset_on_close`](Self::reset_on_close), and now.
    pub(crate) fn reset(&self) {
        if self.kind == SourceKind::Stream && !self.is_shared() {
            // Others than TCP cannot: they end as usual.
            let _ = socket::disconnect(self.fd())
                .or_else(|_| socket::shutdown(self.fd(), std::net::Shutdown::Both));
        }
    }

    /// The descriptor, the shell being owned.
    pub(crate) fn into_fd(self) -> OwnedFd {
        self.fd
    }
}

/// The error of everything that is tried on a source after it was closed.
pub(crate) fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the socket was closed on this side")
}
