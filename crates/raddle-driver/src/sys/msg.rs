//! Message headers for calls that take several buffers or an address.

use std::mem::MaybeUninit;

/// The most buffers one call takes (`UIO_MAXIOV`).
pub(crate) const MAX_SLICES: usize = 1024;

/// A header that names nothing.
pub(crate) fn header() -> libc::msghdr {
    // SAFETY: a msghdr is plain integers and pointers, for which zero is a value.
    unsafe { MaybeUninit::zeroed().assume_init() }
}
