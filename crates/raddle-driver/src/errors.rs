//! The errors that are the driver's own, not the kernel's.

use std::io;

/// What is wrong on a thread without a runtime, and what helps.
pub const NO_RUNTIME: &str = "no raddle runtime on this thread; do I/O in a task, inside \
                              Runtime::run or block_on, or after Handle::enter";

/// I/O was polled where no driver is to be found.
pub(crate) fn no_runtime() -> io::Error {
    io::Error::other(NO_RUNTIME)
}

/// A source made by one backend was polled under a runtime with the other.
pub(crate) fn other_backend() -> io::Error {
    io::Error::other("this socket belongs to a raddle runtime with another I/O backend")
}

/// The driver belongs to the process that this one was forked from.
pub(crate) fn forked() -> io::Error {
    io::Error::other(raddle_base::fork::MESSAGE)
}

/// The driver was closed before the operation began.
pub(crate) fn shut_down() -> io::Error {
    io::Error::other("the raddle runtime is shut down")
}
