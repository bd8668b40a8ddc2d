//! What the service cases ask of a contender: a runtime beside the calling thread, which is none of
//! its workers, and an eventfd that its tasks can wait for.

use crate::outcome::Figures;
use crate::rt::Tasks;
use std::future::Future;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// A runtime that other threads can call into.
pub(crate) trait Service: Tasks {
    const WORKERS: usize;
    /// The running runtime, none of whose workers is the calling thread.
    type Host;
    /// An eventfd that tasks wait for, by the runtime's own means.
    type Source: Send + Sync + 'static;

    /// Starts it. Its threads inherit the caller's CPUs.
    fn host() -> Self::Host;

    /// Spawns a task from a thread that is none of the runtime's.
    fn submit<F>(host: &Self::Host, task: F)
    where
        F: Future<Output = ()> + Send + 'static;

    /// Called in a task.
    fn adopt(event: OwnedFd) -> io::Result<Self::Source>;

    /// Waits until the event's count is not zero, and takes it.
    fn take(source: &Self::Source) -> impl Future<Output = io::Result<u64>> + Send;

    /// What the runtime has counted itself, if it tells.
    fn counters(_host: &Self::Host) -> Figures {
        Figures::new()
    }

    /// Shuts it down.
    fn stop(host: Self::Host) -> Result<(), String>;
}

/// Takes the count of an eventfd: eight bytes.
pub(crate) fn take_count(event: BorrowedFd<'_>) -> io::Result<u64> {
    let mut count = [0; 8];
    // SAFETY: the array is room for its length.
    match unsafe { libc::read(event.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) } {
        8 => Ok(u64::from_ne_bytes(count)),
        _ => Err(io::Error::last_os_error()),
    }
}
