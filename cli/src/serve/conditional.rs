//! Whether a conditional GET or HEAD is to be answered in full (RFC 9110, section 13).
//!
//! Order of precedence (section 13.2.2); a step whose header is absent is passed over:
//!
//! 1. If-Match: no member equals the tag (strong comparison) → 412. It hides step 2.
//! 2. If-Unmodified-Since: modified after the date → 412.
//! 3. If-None-Match: some member equals the tag (weak comparison) → 304. It hides step 4.
//! 4. If-Modified-Since: not modified after the date → 304.
//! 5. If-Range, asked separately: does Range apply?
//!
//! Dates that cannot be read, and date fields given twice, count as absent. A page without a
//! date cannot fail a date. `*` stands for any version, and there always is one: these
//! questions are asked of what would be answered 200.
//!
//! If-Range by date compares for equality, as other servers do, although a file that changes
//! twice within a second keeps its date; a client which must be certain uses the tag.

use hyper::HeaderMap;
use hyper::header::{
    HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE,
};

use super::validators::{Validators, parse_date};

/// The answer of steps 1 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Answer as if there were no condition.
    Proceed,
    /// 304: the client has this version.
    NotModified,
    /// 412: the client wants another version or none.
    Failed,
}

/// Steps 1 to 4.
pub(crate) fn evaluate(headers: &HeaderMap, current: &Validators) -> Verdict {
    if headers.contains_key(IF_MATCH) {
        if !any_tag(headers, &IF_MATCH, |tag| !tag.weak && tag.is(current)) {
            return Verdict::Failed;
        }
    } else if let Some(true) = modified_after(headers, &IF_UNMODIFIED_SINCE, current) {
        return Verdict::Failed;
    }
    if headers.contains_key(IF_NONE_MATCH) {
        if any_tag(headers, &IF_NONE_MATCH, |tag| tag.is(current)) {
            return Verdict::NotModified;
        }
    } else if let Some(false) = modified_after(headers, &IF_MODIFIED_SINCE, current) {
        return Verdict::NotModified;
    }
    Verdict::Proceed
}

/// Step 5: whether a Range header is to be honoured.
pub(crate) fn range_applies(headers: &HeaderMap, current: &Validators) -> bool {
    if !headers.contains_key(IF_RANGE) {
        return true;
    }
    let Some(value) = single(headers, &IF_RANGE) else { return false };
    match Tag::take(value) {
        Some((tag, "")) => !tag.weak && tag.is(current),
        Some(_) => false,
        None => parse_date(value).is_some_and(|date| current.modified == Some(date)),
    }
}

/// Whether the current version is newer than the header's date; `None` when either is missing.
fn modified_after(headers: &HeaderMap, name: &HeaderName, current: &Validators) -> Option<bool> {
    let date = parse_date(single(headers, name)?)?;
    Some(current.modified? > date)
}

/// The value of a field that must not be a list.
pub(crate) fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(only), None) => only.to_str().ok().map(|text| text.trim_matches([' ', '\t'])),
        _ => None,
    }
}

/// Whether some member of a list of tags, over all its lines, is `*` or satisfies `test`.
fn any_tag(headers: &HeaderMap, name: &HeaderName, test: impl Fn(Tag<'_>) -> bool) -> bool {
    headers.get_all(name).iter().any(|line| {
        let line = line.to_str().unwrap_or_default().trim_matches([' ', '\t']);
        line == "*" || Tags(line).any(&test)
    })
}

/// An entity tag as a client sent it.
#[derive(Clone, Copy)]
struct Tag<'a> {
    weak: bool,
    /// With its quotes.
    opaque: &'a str,
}

impl<'a> Tag<'a> {
    /// A tag at the start of `text`, and what follows it. A tag may contain commas and spaces
    /// stand only outside, so a list cannot be split before its tags are read.
    fn take(text: &'a str) -> Option<(Self, &'a str)> {
        let (weak, quoted) = match text.strip_prefix("W/") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let end = quoted.strip_prefix('"')?.find('"')? + 2;
        Some((Self { weak, opaque: &quoted[..end] }, &quoted[end..]))
    }

    /// Weak comparison with the current version.
    fn is(self, current: &Validators) -> bool {
        current.etag.as_deref() == Some(self.opaque)
    }
}

/// The members of a list of tags; ends at the first thing that is none.
struct Tags<'a>(&'a str);

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        let text = self.0.trim_start_matches([' ', '\t', ',']);
        let (tag, rest) = Tag::take(text)?;
        self.0 = rest;
        Some(tag)
    }
}

#[cfg(test)]
mod tests;
