//! Every status a file can be answered with, and what travels with it.

use super::*;
use hyper::header::HeaderName;

const AT: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

fn ten_bytes() -> Representation {
    Representation {
        length: 10,
        kind: HeaderValue::from_static("text/css"),
        validators: Validators { etag: Some("\"t\"".to_owned()), modified: Some(784_111_777) },
    }
}

fn ask(method: &Method, lines: &[(&'static str, &'static str)]) -> Plan {
    let mut map = HeaderMap::new();
    for (name, value) in lines {
        map.append(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    file(method, &map, &ten_bytes())
}

/// The headers as sorted lines.
fn lines(plan: &Plan) -> Vec<String> {
    let mut lines: Vec<_> = plan
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().expect("text")))
        .collect();
    lines.sort();
    lines
}

fn span(first: u64, last: u64) -> Content {
    Content::File(Span { first, last })
}

#[test]
fn whole_file() {
    let plan = ask(&Method::GET, &[]);
    assert_eq!(plan.status, 200);
    assert_eq!(plan.content, span(0, 9));
    assert_eq!(
        lines(&plan),
        [
            "accept-ranges: bytes",
            "content-length: 10",
            "content-type: text/css",
            "etag: \"t\"",
            "last-modified: Sun, 06 Nov 1994 08:49:37 GMT",
            "x-content-type-options: nosniff",
        ]
    );
}

#[test]
fn head_is_get_without_content() {
    for conditions in [
        &[][..],
        &[("if-none-match", "\"t\"")],
        &[("if-match", "\"u\"")],
        &[("if-modified-since", AT)],
    ] {
        let get = ask(&Method::GET, conditions);
        let head = ask(&Method::HEAD, conditions);
        assert_eq!(head.status, get.status);
        assert_eq!(lines(&head), lines(&get));
        assert_eq!(head.content, Content::Nothing);
    }
}

#[test]
fn head_knows_no_ranges() {
    for value in ["bytes=0-1", "bytes=10-"] {
        let plan = ask(&Method::HEAD, &[("range", value)]);
        assert_eq!(plan.status, 200);
        assert_eq!(plan.headers[CONTENT_LENGTH], "10");
    }
}

#[test]
fn part_of_a_file() {
    let plan = ask(&Method::GET, &[("range", "bytes=2-4")]);
    assert_eq!(plan.status, 206);
    assert_eq!(plan.content, span(2, 4));
    assert_eq!(plan.headers[CONTENT_RANGE], "bytes 2-4/10");
    assert_eq!(plan.headers[CONTENT_LENGTH], "3");
    assert_eq!(plan.headers[ETAG], "\"t\"");
    assert_eq!(plan.headers[LAST_MODIFIED], AT);
    assert_eq!(plan.headers[CONTENT_TYPE], "text/css");
}

#[test]
fn unsatisfiable_part() {
    let plan = ask(&Method::GET, &[("range", "bytes=10-")]);
    assert_eq!(plan.status, 416);
    assert_eq!(plan.headers[CONTENT_RANGE], "bytes */10");
    assert!(plan.headers.get(ETAG).is_none());
    assert_eq!(plan.content, Content::Text("416 Range Not Satisfiable\n".into()));
}

#[test]
fn ranges_and_conditions_together() {
    for (conditions, status, content) in [
        // A failed If-Range hides Range, be it satisfiable or not.
        (&[("range", "bytes=0-1"), ("if-range", "\"t\"")][..], 206, span(0, 1)),
        (&[("range", "bytes=0-1"), ("if-range", "\"u\"")], 200, span(0, 9)),
        (&[("range", "bytes=10-"), ("if-range", "\"u\"")], 200, span(0, 9)),
        (&[("range", "bytes=0-1"), ("if-range", AT)], 206, span(0, 1)),
        (&[("if-range", "\"t\"")], 200, span(0, 9)),
        // Other conditions are asked first.
        (&[("range", "bytes=0-1"), ("if-none-match", "\"t\"")], 304, Content::Nothing),
        (&[("range", "bytes=10-"), ("if-none-match", "\"t\"")], 304, Content::Nothing),
        (&[("range", "bytes=0-1"), ("if-none-match", "\"u\"")], 206, span(0, 1)),
        (&[("range", "bytes=0-1"), ("if-match", "\"t\"")], 206, span(0, 1)),
        // Range is no list: twice is not understood.
        (&[("range", "bytes=0-1"), ("range", "bytes=2-3")], 200, span(0, 9)),
    ] {
        let plan = ask(&Method::GET, conditions);
        assert_eq!((plan.status.as_u16(), plan.content), (status, content), "{conditions:?}");
    }
    let failed = ask(&Method::GET, &[("range", "bytes=10-"), ("if-match", "\"u\"")]);
    assert_eq!(failed.status, 412);
}

#[test]
fn not_modified_carries_validators_only() {
    let plan = ask(&Method::GET, &[("if-modified-since", AT)]);
    assert_eq!(plan.status, 304);
    assert_eq!(plan.content, Content::Nothing);
    assert_eq!(lines(&plan), ["etag: \"t\"", "last-modified: Sun, 06 Nov 1994 08:49:37 GMT"]);
}

#[test]
fn empty_file() {
    let mut empty = ten_bytes();
    empty.length = 0;
    let plan = file(&Method::GET, &HeaderMap::new(), &empty);
    assert_eq!((plan.status.as_u16(), plan.content), (200, Content::Nothing));
    assert_eq!(plan.headers[CONTENT_LENGTH], "0");
}

#[test]
fn pages_redirects_and_failures() {
    let page = page(&Method::GET, &HeaderMap::new(), "<p>".to_owned());
    assert_eq!((page.status.as_u16(), page.content), (200, Content::Text("<p>".into())));
    assert_eq!(page.headers[CONTENT_TYPE], "text/html; charset=utf-8");

    let moved = redirect(&Method::HEAD, "/a/?q");
    assert_eq!((moved.status.as_u16(), moved.content), (301, Content::Nothing));
    assert_eq!(moved.headers[LOCATION], "/a/?q");
    assert_ne!(moved.headers[CONTENT_LENGTH], "0");

    let refused = failure(&Method::POST, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(refused.headers[ALLOW], "GET, HEAD");
    assert_eq!(refused.content, Content::Text("405 Method Not Allowed\n".into()));

    let busy = failure(&Method::GET, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(busy.headers[RETRY_AFTER], "1");
}
