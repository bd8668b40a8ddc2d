//! The two directions of a stream as values of their own, for two tasks.
//!
//! [`split`](Stream::split) borrows the stream and costs nothing;
//! [`into_split`](Stream::into_split) makes halves that own it together (one allocation), for
//! tasks that outlive the caller. Dropping the owned write half ends writing, so that the other
//! end reads to the end of input; dropping both closes the stream.
//!
//! Both kinds are one type, generic in how it holds the stream. All methods are those of
//! [`Stream`].

use crate::protocol::Protocol;
use crate::stream::Stream;
use std::error::Error;
use std::fmt;
use std::net::Shutdown;
use std::ops::Deref;
use std::sync::Arc;

mod methods;
mod poll;

/// The reading half of a stream, held through `R`.
#[derive(Debug)]
pub struct ReadHalf<R>(R);

/// The writing half of a stream, held through `R`.
#[derive(Debug)]
pub struct WriteHalf<R>(R);

/// The reading half that owns the stream together with its [`OwnedWriteHalf`].
pub type OwnedReadHalf<P> = ReadHalf<Arc<Stream<P>>>;

/// The writing half that owns the stream together with its [`OwnedReadHalf`]. Dropping it ends
/// writing.
pub type OwnedWriteHalf<P> = WriteHalf<Writer<P>>;

/// How an [`OwnedWriteHalf`] holds its stream.
pub struct Writer<P: Protocol> {
    stream: Arc<Stream<P>>,
    /// Whether the drop ends writing.
    ends: bool,
}

impl<P: Protocol> Deref for Writer<P> {
    type Target = Stream<P>;

    fn deref(&self) -> &Stream<P> {
        &self.stream
    }
}

impl<P: Protocol> Drop for Writer<P> {
    fn drop(&mut self) {
        if self.ends {
            // Not connected any more: then writing has ended already.
            let _ = self.stream.shutdown(Shutdown::Write);
        }
    }
}

impl<P: Protocol> fmt::Debug for Writer<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stream.fmt(f)
    }
}

impl<P: Protocol> Stream<P> {
    /// Splits the stream into halves that borrow it. Dropping them does nothing.
    pub fn split(&mut self) -> (ReadHalf<&Stream<P>>, WriteHalf<&Stream<P>>) {
        let stream = &*self;
        (ReadHalf(stream), WriteHalf(stream))
    }

    /// Splits the stream into halves that own it together. Allocates once.
    pub fn into_split(self) -> (OwnedReadHalf<P>, OwnedWriteHalf<P>) {
        let stream = Arc::new(self);
        let writer = Writer { stream: Arc::clone(&stream), ends: true };
        (ReadHalf(stream), WriteHalf(writer))
    }
}

impl<P: Protocol> OwnedReadHalf<P> {
    /// Puts the two halves together again.
    ///
    /// # Errors
    ///
    /// They are not halves of one stream; both come back.
    pub fn reunite(self, write: OwnedWriteHalf<P>) -> Result<Stream<P>, ReuniteError<P>> {
        reunite(self, write)
    }
}

impl<P: Protocol> OwnedWriteHalf<P> {
    /// Puts the two halves together again.
    ///
    /// # Errors
    ///
    /// They are not halves of one stream; both come back.
    pub fn reunite(self, read: OwnedReadHalf<P>) -> Result<Stream<P>, ReuniteError<P>> {
        reunite(read, self)
    }

    /// Drops the half without ending writing: the other end learns of the end only when the
    /// reading half is dropped too.
    pub fn forget(mut self) {
        self.0.ends = false;
    }
}

fn reunite<P: Protocol>(
    read: OwnedReadHalf<P>,
    write: OwnedWriteHalf<P>,
) -> Result<Stream<P>, ReuniteError<P>> {
    if !Arc::ptr_eq(&read.0, &write.0.stream) {
        return Err(ReuniteError { read, write });
    }
    write.forget();
    // The two halves were the only holders: nothing else has a reference to the allocation.
    Ok(Arc::into_inner(read.0).expect("the halves of one stream are two"))
}

/// The halves do not belong together. Here they are.
pub struct ReuniteError<P: Protocol> {
    /// The reading half of one stream.
    pub read: OwnedReadHalf<P>,
    /// The writing half of another.
    pub write: OwnedWriteHalf<P>,
}

impl<P: Protocol> fmt::Debug for ReuniteError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReuniteError").finish_non_exhaustive()
    }
}

impl<P: Protocol> fmt::Display for ReuniteError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the halves belong to different streams")
    }
}

impl<P: Protocol> Error for ReuniteError<P> {}
