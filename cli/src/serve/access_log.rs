//! The access log: one line a request, in the common log format, on standard output.
//!
//! ```text
//! 127.0.0.1 - - [06/Nov/1994:08:49:37 +0000] "GET /a.txt HTTP/1.1" 200 1234
//! ```
//!
//! The time is that of the request, in UTC; the number is what of the body was handed to the
//! connection, `-` if nothing; the line is written when the answer is over.
//!
//! A worker never waits for the reader of the log. Lines go through a bounded queue to a thread
//! of their own, the only one that writes; when the queue is full (a pipe that nobody reads) lines
//! are dropped and the loss is told on standard error once writing goes on. At the end the thread
//! gets a moment to write what is left.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

use super::escape;
use super::validators;

/// Lines that may wait: at 100 bytes each under a megabyte.
const QUEUE: usize = 8192;
/// Lines joined into one write.
const BATCH: usize = 128;
/// What the writer may take for the rest when the server has ended.
const FAREWELL: Duration = Duration::from_millis(500);

/// Where requests are recorded.
#[derive(Clone, Debug)]
pub(crate) struct AccessLog(Option<Queue>);

#[derive(Clone, Debug)]
struct Queue {
    lines: SyncSender<String>,
    lost: Arc<AtomicU64>,
}

/// The writing thread, waited for with [`Writer::finish`].
#[derive(Debug)]
pub(crate) struct Writer(Option<Receiver<()>>);

/// What a line tells.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) peer: IpAddr,
    /// Seconds since 1970.
    pub(crate) at: u64,
    /// As [`request_line`] makes it.
    pub(crate) request: String,
    pub(crate) status: u16,
    pub(crate) bytes: u64,
}

impl AccessLog {
    /// A log that keeps nothing.
    pub(crate) fn off() -> (Self, Writer) {
        (Self(None), Writer(None))
    }

    /// Starts the thread that writes to standard output.
    pub(crate) fn start() -> io::Result<(Self, Writer)> {
        Self::into(io::stdout())
    }

    fn into(output: impl Write + Send + 'static) -> io::Result<(Self, Writer)> {
        let (lines, queue) = mpsc::sync_channel(QUEUE);
        let lost = Arc::new(AtomicU64::new(0));
        let (alive, ended) = mpsc::sync_channel::<()>(0);
        let counter = Arc::clone(&lost);
        thread::Builder::new().name("access-log".to_owned()).spawn(move || {
            write_lines(output, &queue, &counter);
            drop(alive);
        })?;
        Ok((Self(Some(Queue { lines, lost })), Writer(Some(ended))))
    }

    /// Whether lines are kept; a caller may save itself the work of making one.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Queues a line, or counts it as lost. Never blocks.
    pub(crate) fn record(&self, record: &Record) {
        let Some(queue) = &self.0 else { return };
        match queue.lines.try_send(line(record)) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(_)) => {
                // Relaxed: a count on its own.
                queue.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl Writer {
    /// Waits a moment for the last lines. All clones of the log must be gone, or it waits in vain.
    pub(crate) fn finish(self) {
        if let Some(ended) = self.0 {
            let over = ended.recv_timeout(FAREWELL);
            debug_assert!(matches!(
                over,
                Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout)
            ));
        }
    }
}

/// The thread: takes what is queued, writes it at once, ends with the last sender.
fn write_lines(mut output: impl Write, queue: &Receiver<String>, lost: &AtomicU64) {
    while let Ok(mut batch) = queue.recv() {
        for more in queue.try_iter().take(BATCH - 1) {
            batch.push_str(&more);
        }
        // Nobody reads any more: senders find the queue gone.
        if output.write_all(batch.as_bytes()).and_then(|()| output.flush()).is_err() {
            return;
        }
        // Relaxed: a count on its own.
        let missing = lost.swap(0, Ordering::Relaxed);
        if missing > 0 {
            let _ = writeln!(io::stderr(), "raddle: access log: {missing} lines lost");
        }
    }
}

/// The first line of a request as it is logged.
pub(crate) fn request_line<B>(request: &hyper::Request<B>) -> String {
    let mut line = String::new();
    escape::push_log(&mut line, request.method().as_str());
    line.push(' ');
    let uri = request.uri();
    match uri.authority() {
        // Absolute and authority forms are rare enough for the slow way.
        Some(_) => escape::push_log(&mut line, &uri.to_string()),
        None => escape::push_log(&mut line, uri.path_and_query().map_or("", |path| path.as_str())),
    }
    let _ = write!(line, " {:?}", request.version());
    line
}

/// The whole line, with its end.
fn line(record: &Record) -> String {
    let Record { peer, at, request, status, bytes } = record;
    let mut line = format!("{peer} - - [{}] \"{request}\" {status} ", stamp(*at));
    let _ = match bytes {
        0 => writeln!(line, "-"),
        bytes => writeln!(line, "{bytes}"),
    };
    line
}

/// `06/Nov/1994:08:49:37 +0000`, from HTTP's form of the same time.
fn stamp(seconds: u64) -> String {
    let date = validators::date(seconds);
    let mut words = date.split(' ').skip(1);
    let mut word = || words.next().unwrap_or("-");
    let (day, month, year, time) = (word(), word(), word(), word());
    format!("{day}/{month}/{year}:{time} +0000")
}

#[cfg(test)]
mod tests;
