//! Can this process use io_uring, and is all of it there?

use std::io;

/// Tries; the error's message is the reason.
pub(crate) fn ask() -> io::Result<()> {
    Err(io::Error::other("not part of this build"))
}
