//! The body of an answer: nothing, a text, or a part of a file read as the peer takes it.
//!
//! A file is read in chunks by position, each into a buffer of its own that becomes the frame
//! hyper writes: memory per connection is one chunk being read plus what hyper holds back, whatever
//! the file's size. The read owns its buffer, so a connection may end at any time. A file that
//! shrinks meanwhile ends the connection (its announced length cannot be kept); one that grows is
//! cut at that length.
//!
//! The body is also where an answer ends: dropping it, finished or not, reports to the activity of
//! its connection and to the access log.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use raddle::fs::File;

use super::access_log::{AccessLog, Record};
use super::activity::Activity;
use super::range::Span;

/// Bytes a read asks for.
const CHUNK: u64 = 64 * 1024;

/// A body and what is to be reported about it.
#[derive(Debug)]
pub(crate) struct Answer {
    source: Source,
    receipt: Receipt,
}

#[derive(Debug)]
enum Source {
    Nothing,
    Text(Bytes),
    File(Chunks),
}

impl Answer {
    /// No body.
    pub(crate) fn nothing(receipt: Receipt) -> Self {
        Self { source: Source::Nothing, receipt }
    }

    /// A text.
    pub(crate) fn text(text: Bytes, receipt: Receipt) -> Self {
        Self { source: Source::Text(text), receipt }
    }

    /// A part of a file.
    pub(crate) fn file(file: File, span: Span, receipt: Receipt) -> Self {
        let chunks =
            Chunks { file: Arc::new(file), next: span.first, left: span.len(), reading: None };
        Self { source: Source::File(chunks), receipt }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let next = match &mut self.source {
            Source::Nothing => None,
            Source::Text(text) => {
                let text = std::mem::take(text);
                self.source = Source::Nothing;
                Some(Ok(text))
            }
            Source::File(chunks) => ready!(chunks.poll_next(cx)),
        };
        if let Some(Ok(bytes)) = &next {
            self.receipt.bytes += bytes.len() as u64;
        }
        Poll::Ready(next.map(|next| next.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left())
    }
}

impl Answer {
    fn left(&self) -> u64 {
        match &self.source {
            Source::Nothing => 0,
            Source::Text(text) => text.len() as u64,
            Source::File(chunks) => chunks.left,
        }
    }
}

/// A read on its way: the result and the buffer it gives back.
type Reading = Pin<Box<dyn Future<Output = (io::Result<usize>, Vec<u8>)> + Send>>;

/// The rest of a part of a file.
struct Chunks {
    file: Arc<File>,
    next: u64,
    left: u64,
    reading: Option<Reading>,
}

impl Chunks {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let (next, wanted) = (self.next, self.left.min(CHUNK) as usize);
        let file = &self.file;
        let reading = self.reading.get_or_insert_with(|| {
            let file = Arc::clone(file);
            // One allocation for the buffer and one for the read per 64 KiB.
            Box::pin(async move { file.read_at(Vec::with_capacity(wanted), next).await })
        });
        let (result, mut buffer) = ready!(reading.as_mut().poll(cx));
        self.reading = None;
        Poll::Ready(Some(result.and_then(|count| self.take(&mut buffer, count.min(wanted)))))
    }

    /// Accounts for `count` bytes read into `buffer`.
    fn take(&mut self, buffer: &mut Vec<u8>, count: usize) -> io::Result<Bytes> {
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file was shortened"));
        }
        buffer.truncate(count);
        self.next += count as u64;
        self.left -= count as u64;
        Ok(Bytes::from(std::mem::take(buffer)))
    }
}

impl std::fmt::Debug for Chunks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chunks").field("next", &self.next).field("left", &self.left).finish()
    }
}

/// What becomes known about an answer when its body is dropped.
#[derive(Debug)]
pub(crate) struct Receipt {
    activity: Arc<Activity>,
    log: AccessLog,
    /// Everything about the line but the size.
    record: Option<Record>,
    bytes: u64,
}

impl Receipt {
    /// For an answer about to be given; no record if the log is off.
    pub(crate) fn new(activity: Arc<Activity>, log: AccessLog, record: Option<Record>) -> Self {
        Self { activity, log, record, bytes: 0 }
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        self.activity.answered();
        if let Some(record) = &mut self.record {
            record.bytes = self.bytes;
            self.log.record(record);
        }
    }
}
