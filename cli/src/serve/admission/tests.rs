//! The table of the header, row by row.

use super::*;
use hyper::header::HeaderValue;

fn admit_with(method: &str, uri: &str, version: Version, hosts: &[&str]) -> u16 {
    let mut headers = HeaderMap::new();
    for host in hosts {
        headers.append(HOST, HeaderValue::from_bytes(host.as_bytes()).expect("legal value"));
    }
    let method = Method::from_bytes(method.as_bytes()).expect("legal method");
    let uri: Uri = uri.parse().expect("legal target");
    match admit(&method, &uri, version, &headers) {
        Ok(_) => 200,
        Err(status) => status.as_u16(),
    }
}

#[test]
fn methods() {
    for (method, status) in [
        ("GET", 200),
        ("HEAD", 200),
        ("POST", 405),
        ("PUT", 405),
        ("DELETE", 405),
        ("OPTIONS", 405),
        ("TRACE", 405),
        ("PATCH", 405),
        ("CONNECT", 405),
        ("get", 405),
        ("BREW", 405),
    ] {
        assert_eq!(admit_with(method, "/", Version::HTTP_11, &["x"]), status, "{method}");
    }
}

#[test]
fn targets() {
    for (uri, status) in [
        ("/a?b=../c", 200),
        ("http://other.example/a", 200),
        ("http://other.example", 200),
        ("*", 400),
        ("/%00", 400),
        ("/../x", 404),
        ("http://other.example/../x", 404),
    ] {
        assert_eq!(admit_with("GET", uri, Version::HTTP_11, &["x"]), status, "{uri}");
    }
}

#[test]
fn hosts() {
    for (version, hosts, status) in [
        (Version::HTTP_11, &[][..], 400),
        (Version::HTTP_10, &[], 200),
        (Version::HTTP_11, &[""], 200),
        (Version::HTTP_11, &["localhost:8080"], 200),
        (Version::HTTP_11, &["[::1]:80"], 200),
        (Version::HTTP_11, &["a", "a"], 400),
        (Version::HTTP_10, &["a", "b"], 400),
        (Version::HTTP_11, &["a/b"], 400),
        (Version::HTTP_11, &["a b"], 400),
        (Version::HTTP_11, &["user@a"], 400),
    ] {
        assert_eq!(admit_with("GET", "/", version, hosts), status, "{hosts:?}");
    }
}
