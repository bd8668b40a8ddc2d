//! When a connection has been silent for too long.
//!
//! Two limits: a header must be complete within one time from its first byte (or from the
//! connection's start), however busily it trickles; and no connection may pass a longer time
//! without a byte moved in either direction, be it waiting for a request or for a peer that
//! does not read its answer. hyper has the first limit only, and counts it from the end of the
//! last answer, which would make it the idle limit as well.
//!
//! | phase     | begins with                                   | ends after                     |
//! |-----------|-----------------------------------------------|--------------------------------|
//! | header    | connection; first byte read while waiting     | header limit from its begin    |
//! | answering | the request given to the handler              | idle limit from the last byte  |
//! | waiting   | the answer's body dropped                     | idle limit from the last byte  |
//!
//! The socket, the handler and the body report into [`Activity`]; the connection reads it after
//! each of its polls, with one look at the clock, and moves its timer. All of them run inside
//! that one task. A request that came in one segment with its predecessor begins without a read;
//! if only a part of it came, it has the idle limit until its next byte.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// What happened on a connection since it was last asked.
#[derive(Debug)]
pub(crate) struct Activity {
    /// Twice the number of headers begun, plus one while one is being read.
    headers: AtomicU32,
    answering: AtomicBool,
    moved: AtomicBool,
}

// Relaxed everywhere in this file: one task writes and reads all three fields, and what moves a
// task between threads orders its accesses.
impl Activity {
    /// That of a new connection: its first header is due.
    pub(crate) fn new() -> Self {
        Self {
            headers: AtomicU32::new(1),
            answering: AtomicBool::new(false),
            moved: AtomicBool::new(false),
        }
    }

    /// Bytes came in.
    pub(crate) fn read(&self) {
        self.moved.store(true, Ordering::Relaxed);
        let headers = self.headers.load(Ordering::Relaxed);
        let waiting = headers.is_multiple_of(2) && !self.answering.load(Ordering::Relaxed);
        if waiting {
            self.headers.store(headers.wrapping_add(1), Ordering::Relaxed);
        }
    }

    /// Bytes went out.
    pub(crate) fn written(&self) {
        self.moved.store(true, Ordering::Relaxed);
    }

    /// A header is complete; its request is being answered.
    pub(crate) fn requested(&self) {
        let headers = self.headers.load(Ordering::Relaxed);
        self.headers.store(headers.wrapping_add(headers % 2), Ordering::Relaxed);
        self.answering.store(true, Ordering::Relaxed);
    }

    /// The answer's body is over.
    pub(crate) fn answered(&self) {
        self.answering.store(false, Ordering::Relaxed);
        self.moved.store(true, Ordering::Relaxed);
    }
}

/// The limits applied to one connection. Times count from the connection's start.
#[derive(Debug)]
pub(crate) struct Patience {
    header: Duration,
    idle: Duration,
    /// The value of `headers` when last asked, and when it was first seen.
    seen: u32,
    begun: Duration,
    /// When a byte was last seen to have moved.
    moved: Duration,
}

impl Patience {
    /// For a connection that starts now.
    pub(crate) fn new(header: Duration, idle: Duration) -> Self {
        Self { header, idle, seen: 1, begun: Duration::ZERO, moved: Duration::ZERO }
    }

    /// When the connection is to be closed unless something happens before.
    pub(crate) fn deadline(&mut self, activity: &Activity, now: Duration) -> Duration {
        if activity.moved.swap(false, Ordering::Relaxed) {
            self.moved = now;
        }
        let headers = activity.headers.load(Ordering::Relaxed);
        if headers != self.seen {
            self.seen = headers;
            self.begun = now;
        }
        match headers % 2 {
            0 => self.moved.saturating_add(self.idle),
            _ => self.begun.saturating_add(self.header),
        }
    }
}

#[cfg(test)]
mod tests;
