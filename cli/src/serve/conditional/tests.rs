//! Each header alone, the order among them, and values that nobody should send.

use super::*;
use hyper::header::HeaderValue;

const TAG: &str = "\"a-b\"";
/// The current version's date, the second before and the second after.
const AT: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

fn current() -> Validators {
    Validators { etag: Some(TAG.to_owned()), modified: Some(784_111_777) }
}

fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in lines {
        let value = HeaderValue::from_bytes(value.as_bytes()).expect("legal value");
        map.append(HeaderName::from_static(name), value);
    }
    map
}

fn check(table: &[(&[(&'static str, &str)], Verdict)]) {
    for (lines, verdict) in table {
        assert_eq!(evaluate(&headers(lines), &current()), *verdict, "{lines:?}");
    }
}

#[test]
fn no_condition() {
    check(&[(&[], Verdict::Proceed)]);
}

#[test]
fn if_match() {
    check(&[
        (&[("if-match", TAG)], Verdict::Proceed),
        (&[("if-match", "*")], Verdict::Proceed),
        (&[("if-match", "\"x\"")], Verdict::Failed),
        (&[("if-match", "W/\"a-b\"")], Verdict::Failed),
        (&[("if-match", "\"x\", \"a-b\"")], Verdict::Proceed),
        (&[("if-match", "\"x\""), ("if-match", TAG)], Verdict::Proceed),
        (&[("if-match", "a-b")], Verdict::Failed),
        (&[("if-match", "")], Verdict::Failed),
        (&[("if-match", "\"a-b")], Verdict::Failed),
    ]);
}

#[test]
fn if_none_match() {
    check(&[
        (&[("if-none-match", TAG)], Verdict::NotModified),
        (&[("if-none-match", "*")], Verdict::NotModified),
        (&[("if-none-match", "W/\"a-b\"")], Verdict::NotModified),
        (&[("if-none-match", "\"x\"")], Verdict::Proceed),
        (&[("if-none-match", "\"x\",W/\"y,z\" , ,\"a-b\"")], Verdict::NotModified),
        (&[("if-none-match", "\"x\""), ("if-none-match", TAG)], Verdict::NotModified),
        (&[("if-none-match", "\"x, a-b\"")], Verdict::Proceed),
        (&[("if-none-match", "\"A-B\"")], Verdict::Proceed),
        (&[("if-none-match", "w/\"a-b\"")], Verdict::Proceed),
        (&[("if-none-match", "\u{e9}")], Verdict::Proceed),
        (&[("if-none-match", "")], Verdict::Proceed),
    ]);
}

#[test]
fn dates() {
    check(&[
        (&[("if-modified-since", AT)], Verdict::NotModified),
        (&[("if-modified-since", AFTER)], Verdict::NotModified),
        (&[("if-modified-since", BEFORE)], Verdict::Proceed),
        (&[("if-modified-since", "soon")], Verdict::Proceed),
        (&[("if-modified-since", AT), ("if-modified-since", AT)], Verdict::Proceed),
        (&[("if-modified-since", "Sunday, 06-Nov-94 08:49:37 GMT")], Verdict::NotModified),
        (&[("if-modified-since", "Sun Nov  6 08:49:37 1994")], Verdict::NotModified),
        (&[("if-unmodified-since", AT)], Verdict::Proceed),
        (&[("if-unmodified-since", AFTER)], Verdict::Proceed),
        (&[("if-unmodified-since", BEFORE)], Verdict::Failed),
        (&[("if-unmodified-since", "soon")], Verdict::Proceed),
    ]);
}

#[test]
fn precedence() {
    check(&[
        // A match hides If-Unmodified-Since.
        (&[("if-match", TAG), ("if-unmodified-since", BEFORE)], Verdict::Proceed),
        // If-None-Match hides If-Modified-Since, both ways.
        (&[("if-none-match", "\"x\""), ("if-modified-since", AT)], Verdict::Proceed),
        (&[("if-none-match", TAG), ("if-modified-since", BEFORE)], Verdict::NotModified),
        // The 412 headers come before the 304 headers.
        (&[("if-match", "\"x\""), ("if-none-match", TAG)], Verdict::Failed),
        (&[("if-match", TAG), ("if-none-match", TAG)], Verdict::NotModified),
        (&[("if-unmodified-since", BEFORE), ("if-none-match", TAG)], Verdict::Failed),
        (&[("if-unmodified-since", AT), ("if-modified-since", AT)], Verdict::NotModified),
    ]);
}

#[test]
fn pages_without_validators() {
    let page = Validators::default();
    for (lines, verdict) in [
        ([("if-match", "*")], Verdict::Proceed),
        ([("if-match", TAG)], Verdict::Failed),
        ([("if-none-match", "*")], Verdict::NotModified),
        ([("if-none-match", TAG)], Verdict::Proceed),
        ([("if-modified-since", AFTER)], Verdict::Proceed),
        ([("if-unmodified-since", BEFORE)], Verdict::Proceed),
    ] {
        assert_eq!(evaluate(&headers(&lines), &page), verdict, "{lines:?}");
    }
}

#[test]
fn if_range() {
    for (lines, applies) in [
        (&[][..], true),
        (&[("if-range", TAG)], true),
        (&[("if-range", "W/\"a-b\"")], false),
        (&[("if-range", "\"x\"")], false),
        (&[("if-range", "*")], false),
        (&[("if-range", "\"a-b\", \"x\"")], false),
        (&[("if-range", AT)], true),
        (&[("if-range", BEFORE)], false),
        (&[("if-range", AFTER)], false),
        (&[("if-range", "soon")], false),
        (&[("if-range", TAG), ("if-range", TAG)], false),
    ] {
        assert_eq!(range_applies(&headers(lines), &current()), applies, "{lines:?}");
    }
    assert!(!range_applies(&headers(&[("if-range", AT)]), &Validators::default()));
}
