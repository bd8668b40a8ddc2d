//! Connecting a socket to an address, by the ring or by waiting until it is writable.

use crate::addr::RawAddr;
use crate::interest::Direction;
use crate::op::{Entry, Handle, Operation, Route, Submitted};
use crate::shell::Attempt;
use crate::source::Source;
use crate::sys::{socket, sqe::Sqe};
use std::io;

/// See [`connect()`].
#[derive(Debug)]
pub struct Connect {
    handle: Handle,
    /// On the heap: the kernel reads it after the operation has moved.
    addr: Box<RawAddr>,
    begun: bool,
}

/// Connects the socket to `addr`.
///
/// Dropping the future leaves the socket in an unknown state: close it.
#[track_caller]
pub fn connect(source: &Source, addr: RawAddr) -> Submitted<Connect> {
    let handle = source.handle().clone();
    Submitted::new(Connect { handle, addr: Box::new(addr), begun: false })
}

// SAFETY: the entry names the address on the heap, and the handle keeps the descriptor.
unsafe impl Operation for Connect {
    type Output = io::Result<()>;

    fn attempt(&mut self, ring: bool) -> Option<io::Result<u32>> {
        if ring {
            return None;
        }
        if !self.begun {
            self.begun = true;
            let result = socket::connect(self.handle.shell().fd(), &self.addr);
            return match result {
                Ok(()) => Some(Ok(0)),
                Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {
                    // Writable was only assumed; from now on it means that the attempt is over.
                    self.handle.assume_blocked(Direction::Write);
                    None
                }
                // A Unix listener's queue is full: there is nothing to wait for.
                Err(error) => Some(Err(error)),
            };
        }
        let outcome =
            self.handle.attempt(Direction::Write, |shell| match socket::take_error(shell.fd())? {
                Some(error) => Err(error),
                None => socket::is_connected(shell.fd()),
            });
        match outcome {
            Attempt::Done(result) => Some(result.map(|()| 0)),
            Attempt::Blocked => None,
        }
    }

    fn entry(&mut self) -> Entry {
        Entry(Sqe::connect(self.handle.shell().raw(), self.addr.as_ptr(), self.addr.len()))
    }

    fn route(&self) -> Route<'_> {
        Route::Ready(&self.handle, Direction::Write)
    }

    fn finish(self, result: io::Result<u32>) -> io::Result<()> {
        result.map(drop)
    }
}
