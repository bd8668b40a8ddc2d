//! What a file's name says about its content.
//!
//! The type comes from the extension alone. Text is declared UTF-8, which it nearly always is;
//! without a charset browsers fall back to a guess of their own. Names that say nothing get
//! `application/octet-stream`, and every answer carries `nosniff`, so what is declared is what
//! is used.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hyper::header::HeaderValue;
use mime_guess::MimeGuess;

const UNKNOWN: HeaderValue = HeaderValue::from_static("application/octet-stream");

/// Types that are text without being called so.
const TEXT: [&str; 3] = ["application/javascript", "application/xml", "application/x-sh"];

/// The Content-Type of the file called `name`.
pub(crate) fn of(name: &[u8]) -> HeaderValue {
    let Some(kind) = MimeGuess::from_path(Path::new(OsStr::from_bytes(name))).first_raw() else {
        return UNKNOWN;
    };
    if kind.starts_with("text/") || TEXT.contains(&kind) {
        HeaderValue::try_from(format!("{kind}; charset=utf-8")).unwrap_or(UNKNOWN)
    } else {
        HeaderValue::from_static(kind)
    }
}

#[cfg(test)]
mod tests;
