//! The traits of input and output: those of `futures-io`, which raddle's types implement, and one
//! for reading without initialised room.

use std::io;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use futures_io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite};
pub use raddle_driver::{Direction, Interest, IoBuf, IoBufMut, Tail};

/// Reading into room that need not be initialised: what [`AsyncRead`] cannot express. Wrappers
/// for traits that can (hyper's, for example) spare the zeroes by it.
///
/// # Safety
///
/// When `poll_read_uninit` gives `Ok(n)`, `n` is at most the length of `into`, and its first `n`
/// bytes are initialised. The implementation never writes uninitialised bytes to `into`.
pub unsafe trait PollRead {
    /// Reads into `into`; `Ok(0)` is the end of input (or `into` is empty).
    fn poll_read_uninit(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>>;
}

/// Initialised bytes as a [`Source`](raddle_driver::Source) takes them.
pub(crate) fn as_uninit(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: same layout. Receivers are the driver's reads only, which never write uninitialised
    // bytes.
    unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
}

/// Whether a vectored call has nothing to do.
pub(crate) fn all_empty<S: Deref<Target = [u8]>>(slices: &[S]) -> bool {
    slices.iter().all(|slice| slice.is_empty())
}
