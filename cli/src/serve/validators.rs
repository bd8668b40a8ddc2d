//! How one version of a file is told from another: its ETag and its Last-Modified.
//!
//! The ETag is strong and made of length, modification time and change time, both in
//! nanoseconds. Writing to a file moves both times, and nobody but the kernel sets the second
//! one, so restored time stamps (`cp -p`, `touch -d`) do not bring an old tag back. Its limit is
//! the kernel's clock tick: before Linux 6.13 two writes of the same length within one tick
//! (at most 10 ms) leave one tag.
//!
//! Last-Modified has whole seconds and is never later than now (RFC 9110, section 8.8.2.1). A
//! time before 1970 or after 9999 cannot be written as a date; such a file has none.

use std::time::{Duration, UNIX_EPOCH};

use hyper::header::HeaderValue;

/// What the file system says about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Metadata {
    pub(crate) length: u64,
    pub(crate) modified: Stamp,
    pub(crate) changed: Stamp,
}

/// A time of the file system, from 1970 on (negative before).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) seconds: i64,
    pub(crate) nanos: u32,
}

/// 9999-12-31 23:59:59, the last second that the date format can hold.
const LAST_SECOND: u64 = 253_402_300_799;

/// What conditional requests are compared with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Validators {
    /// A strong entity tag with its quotes; none for generated pages.
    pub(crate) etag: Option<String>,
    /// Seconds since 1970; none for generated pages and impossible dates.
    pub(crate) modified: Option<u64>,
}

impl Validators {
    /// Those of a file, at `now` (seconds since 1970).
    pub(crate) fn of(file: &Metadata, now: u64) -> Self {
        let etag = format!("\"{:x}-{}-{}\"", file.length, file.modified.hex(), file.changed.hex());
        let modified = u64::try_from(file.modified.seconds).ok().map(|at| at.min(now));
        Self { etag: Some(etag), modified: modified.filter(|at| *at <= LAST_SECOND) }
    }

    /// The tag as a header value.
    pub(crate) fn etag_header(&self) -> Option<HeaderValue> {
        self.etag.as_deref().and_then(|etag| HeaderValue::from_str(etag).ok())
    }

    /// The date as a header value.
    pub(crate) fn modified_header(&self) -> Option<HeaderValue> {
        self.modified.and_then(|at| HeaderValue::from_str(&date(at)).ok())
    }
}

impl Stamp {
    fn hex(self) -> String {
        format!("{:x}.{:x}", self.seconds, self.nanos)
    }
}

/// Seconds since 1970 as HTTP writes them; times after 9999 become the last second of it.
pub(crate) fn date(seconds: u64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds.min(LAST_SECOND)))
}

/// Reads any of HTTP's three date forms into seconds since 1970.
pub(crate) fn parse_date(text: &str) -> Option<u64> {
    let time = httpdate::parse_http_date(text).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

#[cfg(test)]
mod tests;
