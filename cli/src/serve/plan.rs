//! What to answer: status, headers and body, as a pure function of the request and the file.
//!
//! Nothing here reads a file or a socket. `file` decides between 200, 206, 304, 412 and 416;
//! the other functions make the answers that have nothing to decide. HEAD is the same answer
//! with its body left out, Content-Length kept (RFC 9110, section 9.3.2), and Range left out of
//! account, since it is defined for GET alone (section 14.2).

use hyper::body::Bytes;
use hyper::header::{
    ACCEPT_RANGES, ALLOW, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderName,
    HeaderValue, LAST_MODIFIED, LOCATION, RANGE, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{HeaderMap, Method, StatusCode};

use super::conditional::{self, Verdict};
use super::range::{self, Selection, Span};
use super::validators::Validators;

/// An answer before it has a body to read from.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) content: Content,
}

/// What follows the header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Nothing,
    Text(Bytes),
    /// This part of the file that the plan was made for.
    File(Span),
}

/// A file as far as the header of an answer is concerned.
#[derive(Debug)]
pub(crate) struct Representation {
    pub(crate) length: u64,
    pub(crate) kind: HeaderValue,
    pub(crate) validators: Validators,
}

const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// The answer to GET or HEAD for a file.
pub(crate) fn file(method: &Method, headers: &HeaderMap, file: &Representation) -> Plan {
    let plan = match conditional::evaluate(headers, &file.validators) {
        Verdict::NotModified => Plan::empty(StatusCode::NOT_MODIFIED),
        Verdict::Failed => return failure(method, StatusCode::PRECONDITION_FAILED),
        Verdict::Proceed => match selection(method, headers, file) {
            Selection::Whole => Plan::whole(file),
            Selection::Part(span) => Plan::part(file, span),
            Selection::Unsatisfiable => {
                return failure(method, StatusCode::RANGE_NOT_SATISFIABLE)
                    .with(CONTENT_RANGE, format!("bytes */{}", file.length));
            }
        },
    };
    plan.with_some(ETAG, file.validators.etag_header())
        .with_some(LAST_MODIFIED, file.validators.modified_header())
        .for_method(method)
}

/// The answer to GET or HEAD for a generated page.
pub(crate) fn page(method: &Method, headers: &HeaderMap, html: String) -> Plan {
    match conditional::evaluate(headers, &Validators::default()) {
        Verdict::NotModified => Plan::empty(StatusCode::NOT_MODIFIED),
        Verdict::Failed => failure(method, StatusCode::PRECONDITION_FAILED),
        Verdict::Proceed => Plan::text(StatusCode::OK, HTML, html).for_method(method),
    }
}

/// The answer that sends a client to another path of this server.
pub(crate) fn redirect(method: &Method, location: &str) -> Plan {
    let text = format!("Moved to {location}\n");
    Plan::text(StatusCode::MOVED_PERMANENTLY, PLAIN, text)
        .with(LOCATION, location.to_owned())
        .for_method(method)
}

/// The answer that says only what went wrong.
pub(crate) fn failure(method: &Method, status: StatusCode) -> Plan {
    let plan = Plan::text(status, PLAIN, format!("{status}\n"));
    match status {
        StatusCode::METHOD_NOT_ALLOWED => plan.with(ALLOW, "GET, HEAD".to_owned()),
        StatusCode::SERVICE_UNAVAILABLE => plan.with(RETRY_AFTER, "1".to_owned()),
        _ => plan,
    }
    .for_method(method)
}

fn selection(method: &Method, headers: &HeaderMap, file: &Representation) -> Selection {
    if method != Method::GET || !conditional::range_applies(headers, &file.validators) {
        return Selection::Whole;
    }
    match conditional::single(headers, &RANGE) {
        Some(value) => range::select(value, file.length),
        None => Selection::Whole,
    }
}

impl Plan {
    fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), content: Content::Nothing }
    }

    fn text(status: StatusCode, kind: HeaderValue, text: String) -> Self {
        let mut plan = Self::empty(status);
        plan.describe(kind, text.len() as u64);
        plan.content = Content::Text(text.into());
        plan
    }

    fn whole(file: &Representation) -> Self {
        let mut plan = Self::empty(StatusCode::OK);
        plan.describe(file.kind.clone(), file.length);
        plan.headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        if let Some(last) = file.length.checked_sub(1) {
            plan.content = Content::File(Span { first: 0, last });
        }
        plan
    }

    fn part(file: &Representation, span: Span) -> Self {
        let mut plan = Self::empty(StatusCode::PARTIAL_CONTENT);
        plan.describe(file.kind.clone(), span.len());
        plan.headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        plan.content = Content::File(span);
        plan.with(CONTENT_RANGE, format!("bytes {}-{}/{}", span.first, span.last, file.length))
    }

    fn describe(&mut self, kind: HeaderValue, length: u64) {
        self.headers.insert(CONTENT_TYPE, kind);
        self.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        self.headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }

    /// Adds a header whose value was made here, of printable ASCII.
    fn with(self, name: HeaderName, value: String) -> Self {
        self.with_some(name, HeaderValue::try_from(value).ok())
    }

    fn with_some(mut self, name: HeaderName, value: Option<HeaderValue>) -> Self {
        if let Some(value) = value {
            self.headers.insert(name, value);
        }
        self
    }

    /// HEAD gets the header alone.
    fn for_method(mut self, method: &Method) -> Self {
        if method == Method::HEAD {
            self.content = Content::Nothing;
        }
        self
    }
}

#[cfg(test)]
mod tests;
