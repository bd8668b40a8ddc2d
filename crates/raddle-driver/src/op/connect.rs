//! Connecting a socket to an address, by the ring or by waiting until it is writable.

use crate::addr::RawAddr;
use crate::interest::Direction;
use crate::op::{Entry, Handle, Operation, Route, Submitted};
use crate::shell::Attempt;
use crate::source::Source;
use crate::sys::{socket, sqe::Sqe};
use std::io;
use std::time::Duration;

/// See [`connect()`].
#[derive(Debug)]
pub struct Connect {
    handle: Handle,
    /// On the heap: the kernel reads it after the operation has moved.
    addr: Box<RawAddr>,
    progress: Progress,
}

#[derive(Debug)]
enum Progress {
    Fresh,
    /// The listener's queue was full at so many attempts.
    Full(u32),
    /// The kernel is at it, and will say when it is over.
    Begun,
}

/// The first pause before another attempt to get into a full queue, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(16)];

/// Connects the socket to `addr`.
///
/// If the queue of a Unix listener is full this waits until there is room, as a blocking connect
/// does. The kernel makes no event of that, so this tries again after 1 ms, then after twice as
/// long, up to 16 ms.
///
/// Dropping the future leaves the socket in an unknown state: close it.
#[track_caller]
pub fn connect(source: &Source, addr: RawAddr) -> Submitted<Connect> {
    let handle = source.handle().clone();
    Submitted::new(Connect { handle, addr: Box::new(addr), progress: Progress::Fresh })
}

impl Connect {
    /// Makes the call that begins to connect.
    fn begin(&mut self) -> Option<io::Result<u32>> {
        let full = if let Progress::Full(times) = self.progress { times } else { 0 };
        if full != 0 && self.handle.is_pausing() {
            return None;
        }
        let error = match socket::connect(self.handle.shell().fd(), &self.addr) {
            Ok(()) => return Some(Ok(0)),
            Err(error) => error,
        };
        match error.raw_os_error() {
            Some(libc::EINPROGRESS) => {
                self.progress = Progress::Begun;
                // Writable was only assumed; from now on it means that the attempt is over.
                self.handle.assume_blocked(Direction::Write);
                None
            }
            Some(libc::EAGAIN) if self.addr.as_unix().is_some() => {
                self.progress = Progress::Full(full.saturating_add(1));
                let pause = PAUSES[0].saturating_mul(1 << full.min(10)).min(PAUSES[1]);
                self.handle.try_again_after(pause).err().map(Err)
            }
            _ => Some(Err(error)),
        }
    }
}

// SAFETY: the entry names the address on the heap, and the handle keeps the descriptor.
unsafe impl Operation for Connect {
    type Output = io::Result<()>;

    fn attempt(&mut self, ring: bool) -> Option<io::Result<u32>> {
        if ring && self.may_fly() {
            return None;
        }
        if !matches!(self.progress, Progress::Begun) {
            return self.begin();
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

    /// Connecting to a Unix socket takes no time, or there is no room, which a ring does not wait
    /// for either, the socket being non-blocking.
    fn may_fly(&self) -> bool {
        self.addr.as_unix().is_none()
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
