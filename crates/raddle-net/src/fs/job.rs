//! What a file is doing: at most one operation in flight, and what it has brought.
//!
//! A file keeps its own position and tells the kernel where to read and write, so that an
//! operation whose future was dropped moves nothing: bytes it reads are kept and come with the
//! next read, unless the position was changed meanwhile. Files that have no position (pipes,
//! terminals) are read where they stand; bytes kept are never thrown away there.
//!
//! | field | meaning |
//! |---|---|
//! | `position` | of the next byte the user gets or writes; `None` without positions |
//! | `ahead`, `taken` | bytes at `position` that were read, and how many the user has |
//! | `flight` | the operation in flight |
//! | `failed` | the error of a write that nobody waited for |

use super::blocking_file::length;
use raddle_base::context;
use raddle_driver::Tail;
use raddle_driver::op::{self, Submitted};
use std::io::{self, SeekFrom};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The most that one operation reads or writes through a buffer of the file's own.
const CHUNK: usize = 1 << 20;

type Reading = Submitted<op::Read<Vec<u8>>>;
type Writing = Submitted<op::Write<Tail<Vec<u8>>>>;
type Sizing = dyn Future<Output = io::Result<u64>> + Send;

enum Flight {
    Idle,
    Read(Pin<Box<Reading>>),
    /// How many bytes of the buffer are written.
    Write(Pin<Box<Writing>>, usize),
    /// The length of the file, for a seek from its end.
    Size(Pin<Box<Sizing>>),
}

/// What an operation came to, for whoever drove it to its end.
enum Landed {
    Nothing,
    Read(io::Result<()>),
    Wrote(io::Result<usize>),
    Size(io::Result<u64>),
}

/// The moving part of a file.
pub(crate) struct Job {
    position: Option<u64>,
    append: bool,
    ahead: Vec<u8>,
    taken: usize,
    flight: Flight,
    failed: Option<io::Error>,
}

impl Job {
    pub(crate) fn new(fd: &OwnedFd, append: bool) -> Job {
        Job {
            position: tell(fd),
            append,
            ahead: Vec::new(),
            taken: 0,
            flight: Flight::Idle,
            failed: None,
        }
    }

    /// A job for a duplicate of the file, at the same position.
    pub(crate) fn twin(&self) -> Job {
        let (position, append) = (self.position, self.append);
        let (ahead, flight) = (Vec::new(), Flight::Idle);
        Job { position, append, ahead, taken: 0, flight, failed: None }
    }

    /// Reads into `into`. The file is the one the job was made for.
    pub(crate) fn poll_read(
        &mut self,
        fd: &Arc<OwnedFd>,
        cx: &mut Context<'_>,
        into: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        ready!(context::check_budget(cx));
        loop {
            if into.is_empty() {
                return Poll::Ready(Ok(0));
            }
            if self.taken < self.ahead.len() {
                context::spend();
                return Poll::Ready(Ok(self.take_ahead(into)));
            }
            if let Flight::Idle = self.flight {
                if let Some(read) = op::read_cached(fd.as_fd(), into, self.position) {
                    context::spend();
                    return Poll::Ready(read.inspect(|&count| self.advance(count)));
                }
                let mut buf = std::mem::take(&mut self.ahead);
                self.taken = 0;
                buf.clear();
                // About what is asked for, so that hardly a byte is read that nobody wants.
                buf.reserve_exact(into.len().min(CHUNK));
                buf.shrink_to(into.len().min(CHUNK));
                self.flight = Flight::Read(Box::pin(op::read(fd, buf, self.position)));
            }
            match ready!(self.poll_landed(fd, cx)) {
                Landed::Read(Ok(())) if self.ahead.is_empty() => return Poll::Ready(Ok(0)),
                Landed::Read(Err(error)) => return Poll::Ready(Err(error)),
                landed => self.keep(landed),
            }
        }
    }

    /// Hands out bytes that were read before.
    fn take_ahead(&mut self, into: &mut [MaybeUninit<u8>]) -> usize {
        let bytes = &self.ahead[self.taken..];
        let count = bytes.len().min(into.len());
        for (to, &from) in into.iter_mut().zip(bytes) {
            to.write(from);
        }
        self.taken += count;
        self.advance(count);
        count
    }

    /// Begins to write `buf` and waits until it is written; how much was.
    pub(crate) fn poll_write(
        &mut self,
        fd: &Arc<OwnedFd>,
        cx: &mut Context<'_>,
        buf: &[u8],
        begun: &mut bool,
    ) -> Poll<io::Result<usize>> {
        if !*begun {
            ready!(self.poll_idle(fd, cx))?;
            if buf.is_empty() {
                return Poll::Ready(Ok(0));
            }
            *begun = true;
            self.begin_write(fd, buf);
        }
        match ready!(self.poll_landed(fd, cx)) {
            Landed::Wrote(result) => Poll::Ready(result),
            _ => unreachable!("the write that was begun is in flight"),
        }
    }

    /// How many bytes of `buf` one write takes.
    pub(crate) fn portion(buf: &[u8]) -> usize {
        buf.len().min(CHUNK)
    }

    fn begin_write(&mut self, fd: &Arc<OwnedFd>, buf: &[u8]) {
        self.forget_ahead();
        let bytes = Tail::new(buf[..Job::portion(buf)].to_vec(), 0);
        let offset = self.offset_to_write();
        self.flight = Flight::Write(Box::pin(op::write(fd, bytes, offset)), 0);
    }

    /// Waits until nothing is in flight.
    ///
    /// # Errors
    ///
    /// That of a write that nobody waited for, once.
    pub(crate) fn poll_idle(
        &mut self,
        fd: &Arc<OwnedFd>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !matches!(self.flight, Flight::Idle) {
            let landed = ready!(self.poll_landed(fd, cx));
            self.keep(landed);
        }
        Poll::Ready(self.failed.take().map_or(Ok(()), Err))
    }

    /// Changes the position.
    pub(crate) fn poll_seek(
        &mut self,
        fd: &Arc<OwnedFd>,
        cx: &mut Context<'_>,
        to: SeekFrom,
    ) -> Poll<io::Result<u64>> {
        let Some(position) = self.position else {
            return Poll::Ready(Err(io::Error::from_raw_os_error(libc::ESPIPE)));
        };
        let target = match to {
            SeekFrom::End(by) => ready!(self.poll_size(fd, cx))?.checked_add_signed(by),
            SeekFrom::Start(at) => {
                ready!(self.poll_idle(fd, cx))?;
                Some(at)
            }
            SeekFrom::Current(by) => {
                ready!(self.poll_idle(fd, cx))?;
                // Not that of before: a write may have ended just now.
                self.position.unwrap_or(position).checked_add_signed(by)
            }
        };
        let Some(at) = target.filter(|&at| i64::try_from(at).is_ok()) else {
            let text = "seek before the beginning or beyond 2^63 − 1";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidInput, text)));
        };
        if self.position != Some(at) {
            self.forget_ahead();
        }
        self.position = Some(at);
        Poll::Ready(Ok(at))
    }

    /// Asks for the length of the file.
    fn poll_size(&mut self, fd: &Arc<OwnedFd>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        if !matches!(self.flight, Flight::Size(_)) {
            ready!(self.poll_idle(fd, cx))?;
            self.flight = Flight::Size(Box::pin(length(Arc::clone(fd))));
        }
        match ready!(self.poll_landed(fd, cx)) {
            Landed::Size(size) => Poll::Ready(size),
            _ => unreachable!("the question is in flight"),
        }
    }

    /// Whether bytes were read that nobody has taken and that cannot be read again.
    pub(crate) fn holds_bytes(&self) -> bool {
        self.position.is_none() && self.taken < self.ahead.len()
    }

    /// Where the next byte is read or written, if the file has positions.
    pub(crate) fn position(&self) -> Option<u64> {
        self.position
    }

    /// Drives what is in flight to its end.
    fn poll_landed(&mut self, fd: &Arc<OwnedFd>, cx: &mut Context<'_>) -> Poll<Landed> {
        let landed = match &mut self.flight {
            Flight::Idle => return Poll::Ready(Landed::Nothing),
            Flight::Read(reading) => {
                let (result, buf) = ready!(reading.as_mut().poll(cx));
                self.ahead = buf;
                if result.is_err() {
                    self.ahead.clear();
                }
                Landed::Read(result.map(drop))
            }
            Flight::Size(sizing) => Landed::Size(ready!(sizing.as_mut().poll(cx))),
            Flight::Write(writing, done) => {
                let (result, tail) = ready!(writing.as_mut().poll(cx));
                let done = *done;
                return self.poll_wrote(fd, cx, result, tail.into_inner(), done);
            }
        };
        self.flight = Flight::Idle;
        Poll::Ready(landed)
    }

    /// One write has ended: begins the next if that was not all.
    fn poll_wrote(
        &mut self,
        fd: &Arc<OwnedFd>,
        cx: &mut Context<'_>,
        result: io::Result<usize>,
        buf: Vec<u8>,
        done: usize,
    ) -> Poll<Landed> {
        self.flight = Flight::Idle;
        let result = match result {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            result => result,
        };
        match result {
            Ok(count) => {
                self.moved(fd, count);
                let done = done + count;
                if done == buf.len() {
                    return Poll::Ready(Landed::Wrote(Ok(done)));
                }
                let offset = self.offset_to_write();
                let rest = op::write(fd, Tail::new(buf, done), offset);
                self.flight = Flight::Write(Box::pin(rest), done);
                self.poll_landed(fd, cx)
            }
            // What was written counts; the next write meets the error again.
            Err(_) if done > 0 => Poll::Ready(Landed::Wrote(Ok(done))),
            Err(error) => Poll::Ready(Landed::Wrote(Err(error))),
        }
    }

    /// Nobody waits for this outcome any more.
    fn keep(&mut self, landed: Landed) {
        if let Landed::Wrote(Err(error)) = landed {
            self.failed = Some(error);
        }
    }

    fn offset_to_write(&self) -> Option<u64> {
        if self.append { None } else { self.position }
    }

    /// A write has moved the position.
    fn moved(&mut self, fd: &OwnedFd, count: usize) {
        if self.append && self.position.is_some() {
            self.position = tell(fd).or(self.position);
        } else {
            self.advance(count);
        }
    }

    fn advance(&mut self, count: usize) {
        if let Some(position) = &mut self.position {
            *position += count as u64;
        }
    }

    /// The position changes: bytes kept are not those at the new one. Without positions they stay.
    fn forget_ahead(&mut self) {
        if self.position.is_some() {
            self.ahead.clear();
            self.taken = 0;
        }
    }
}

/// Where the kernel stands in the file; `None` if it has no positions. Never waits.
fn tell(fd: &OwnedFd) -> Option<u64> {
    // SAFETY: no pointer is passed.
    let at = unsafe { libc::lseek(fd.as_raw_fd(), 0, libc::SEEK_CUR) };
    u64::try_from(at).ok()
}
