//! Can this process use io_uring, and is all of it there?
//!
//! A ring is set up as a driver would do it, of the usual sizes because they count against a limit
//! of memory, asked for its operations, and given a ring of buffers. Whatever stands in the way is
//! named in one phrase, because the user who wonders why epoll is in use has to remove it: a
//! filter, a sysctl, a limit, an old kernel.

use super::buffers::Pool;
use super::patience::patiently;
use crate::sizes::{BUFFER_SIZE, BUFFERS, ENTRIES, completions};
use crate::sys::sqe::code;
use crate::sys::uring::{Uring, setup};
use std::io;
use std::sync::Arc;

/// What was made to ask: as much as one driver takes, until it is dropped.
pub(crate) struct Sample {
    // The ring first, as everywhere: it knows the pool's memory.
    _uring: Arc<Uring>,
    _pool: Pool,
}

/// Tries; the error's message is the reason.
pub(crate) fn ask() -> io::Result<Sample> {
    patiently(attempt).map_err(explain)
}

fn attempt() -> io::Result<Sample> {
    let flags = setup::COOP_TASKRUN | setup::TASKRUN_FLAG;
    let uring = Uring::new(ENTRIES, completions(ENTRIES), flags)?;
    if uring.features() & setup::FEATURES != setup::FEATURES || !uring.supports(&code::ALL)? {
        return Err(too_old());
    }
    let pool = Pool::new(&uring, BUFFERS, BUFFER_SIZE)?;
    Ok(Sample { _uring: uring, _pool: pool })
}

fn too_old() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "the kernel is older than 6.1")
}

fn explain(error: io::Error) -> io::Error {
    let phrase = match error.raw_os_error() {
        Some(libc::ENOSYS) => "the kernel has none, or a filter hides it",
        Some(libc::EPERM | libc::EACCES) => {
            "not permitted, by a filter or by the sysctl kernel.io_uring_disabled"
        }
        Some(libc::EINVAL) => return too_old(),
        Some(libc::EMFILE | libc::ENFILE) => "out of descriptors",
        _ => return error,
    };
    io::Error::new(error.kind(), phrase)
}
