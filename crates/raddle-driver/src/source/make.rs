//! From a descriptor to a source and back.

use crate::current;
use crate::epoll::source::EpollSource;
use crate::handle::{Face, Handle};
use crate::probe::Backend;
use crate::shell::{Shell, SourceKind};
use crate::uring::source::UringSource;
use std::error::Error;
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

/// A descriptor could not be made a source: here it is again.
#[derive(Debug)]
pub struct Refused {
    /// Why.
    pub error: io::Error,
    /// The descriptor, as it was given.
    pub fd: OwnedFd,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Refused {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

impl From<Refused> for io::Error {
    /// Keeps the error and closes the descriptor.
    fn from(refused: Refused) -> io::Error {
        refused.error
    }
}

pub(super) fn handle(fd: OwnedFd, kind: SourceKind) -> Result<Handle, Refused> {
    let backend = match current::with(|remote| remote.backend()) {
        Ok(backend) => backend,
        Err(error) => return Err(Refused { error, fd }),
    };
    let shell = Shell::new(fd, kind).map_err(|(error, fd)| Refused { error, fd })?;
    Ok(Handle(match backend {
        Backend::Epoll => Face::Epoll(EpollSource::new(shell)),
        Backend::Uring => Face::Uring(UringSource::new(shell)),
    }))
}

pub(super) fn into_fd(handle: Handle) -> Result<OwnedFd, Handle> {
    match handle.0 {
        Face::Epoll(source) => source.into_fd().map_err(|source| Handle(Face::Epoll(source))),
        Face::Uring(source) => source.into_fd().map_err(|source| Handle(Face::Uring(source))),
    }
}

/// Initialised bytes as a call may see them that only ever writes initialised ones.
pub(super) fn uninit(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: same layout. Nobody writes uninitialised bytes through it: the receivers are the
    // calls of `sys` and copies of received bytes.
    unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
}
