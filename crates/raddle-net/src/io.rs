//! The traits of input and output: those of `futures-io`, which raddle's types implement, and one
//! for reading without initialised room; buffers and copying for whatever implements them.
//!
//! Streams and files have `read`, `write_all` and so on as methods of their own. Further adapters
//! for these traits are in the crates `futures-lite` and `futures`.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

mod buf_reader;
mod buf_writer;
mod copy;
mod lines;

pub use buf_reader::BufReader;
pub use buf_writer::BufWriter;
pub use copy::{copy, copy_bidirectional};
pub use lines::Lines;

pub(crate) use buf_reader::push_text;

pub use futures_io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite};
pub use raddle_driver::{Direction, Interest, IoBuf, IoBufMut, Tail};
pub use std::io::{Error, ErrorKind, Result, SeekFrom};

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

/// Any reader as a [`PollRead`]: zeroes the room before each read. For streams that are not
/// raddle's own (TLS, for example) where a wrapper asks for [`PollRead`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ZeroFilled<T>(T);

impl<T> ZeroFilled<T> {
    /// Wraps a reader.
    pub fn new(inner: T) -> ZeroFilled<T> {
        ZeroFilled(inner)
    }

    /// What was wrapped.
    pub fn into_inner(self) -> T {
        self.0
    }

    /// What is wrapped.
    pub fn get_ref(&self) -> &T {
        &self.0
    }

    /// What is wrapped.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

// SAFETY: all of the room is initialised, and the number is checked.
unsafe impl<T: AsyncRead + Unpin> PollRead for ZeroFilled<T> {
    fn poll_read_uninit(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        into.fill(MaybeUninit::new(0));
        // SAFETY: initialised just now; same layout.
        let bytes = unsafe { &mut *(std::ptr::from_mut(into) as *mut [u8]) };
        let count = ready!(Pin::new(&mut self.0).poll_read(cx, bytes))?;
        assert!(count <= bytes.len(), "a reader claims more bytes than there was room for");
        Poll::Ready(Ok(count))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for ZeroFilled<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bufs)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }
}

#[cfg(test)]
#[path = "tests/io.rs"]
mod tests;

#[cfg(test)]
#[path = "tests/buffered.rs"]
mod buffered_tests;
