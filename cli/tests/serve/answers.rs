//! What comes back: bodies, headers, ranges and conditionals, exact to the byte, and refusals of
//! what is not a GET or HEAD.

use super::client::{Answer, Client};
use super::setup::{ANY, Site, each_setup};

const TEXT: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
/// A date before the file was made, and one after.
const OLD: &str = "Thu, 01 Jan 1970 00:00:01 GMT";
const NEW: &str = "Fri, 31 Dec 9999 23:59:59 GMT";

fn site() -> Site {
    let site = Site::new();
    site.file("a.txt", TEXT).file("empty.css", "").file("data", [0xff; 300]);
    site
}

fn ask(client: &mut Client, headers: &[(&str, &str)]) -> Answer {
    client.ask("GET", "/a.txt", headers)
}

#[test]
fn get_and_head_agree() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &[]);
        let mut client = Client::connect(server.address);
        for (path, length, kind) in [
            ("/a.txt", 36, "text/plain; charset=utf-8"),
            ("/empty.css", 0, "text/css; charset=utf-8"),
            ("/data", 300, "application/octet-stream"),
        ] {
            let get = client.get(path);
            let head = client.ask("HEAD", path, &[]);
            for answer in [&get, &head] {
                assert_eq!(answer.status, 200);
                assert_eq!(answer.length(), length);
                assert_eq!(answer.must("content-type"), kind);
                assert_eq!(answer.must("accept-ranges"), "bytes");
                assert!(answer.must("date").ends_with(" GMT"));
            }
            assert_eq!(get.body.len(), length);
            assert_eq!(get.must("etag"), head.must("etag"));
            assert_eq!(get.must("last-modified"), head.must("last-modified"));
        }
        // Had HEAD sent a body, this answer could not be read.
        assert_eq!(client.get("/a.txt").text(), TEXT);
        server.stop();
    });
}

#[test]
fn ranges() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &[]);
        let mut client = Client::connect(server.address);
        for (range, first, last) in [
            ("bytes=0-0", 0, 0),
            ("bytes=0-", 0, 35),
            ("bytes=5-9", 5, 9),
            ("bytes=35-", 35, 35),
            ("bytes=30-99", 30, 35),
            ("bytes=-4", 32, 35),
            ("bytes=-99", 0, 35),
            ("bytes=99-,1-2", 1, 2),
        ] {
            let answer = ask(&mut client, &[("Range", range)]);
            assert_eq!(answer.status, 206, "{range}");
            assert_eq!(answer.must("content-range"), format!("bytes {first}-{last}/36"));
            assert_eq!(answer.text(), &TEXT[first..=last]);
        }
        for range in ["bytes=36-", "bytes=-0", "bytes=99999999999999999999-"] {
            let answer = ask(&mut client, &[("Range", range)]);
            assert_eq!(answer.status, 416, "{range}");
            assert_eq!(answer.must("content-range"), "bytes */36");
        }
        for range in ["bytes=9-5", "bytes=x", "lines=0-1", "bytes=0-1,3-4"] {
            let answer = ask(&mut client, &[("Range", range)]);
            assert_eq!((answer.status, answer.text()), (200, TEXT), "{range}");
        }
        let empty = client.ask("GET", "/empty.css", &[("Range", "bytes=0-")]);
        assert_eq!((empty.status, empty.must("content-range")), (416, "bytes */0"));
        server.stop();
    });
}

#[test]
fn conditionals() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &[]);
        let mut client = Client::connect(server.address);
        let first = client.get("/a.txt");
        let (tag, date) = (first.must("etag"), first.must("last-modified"));
        let weak = format!("W/{tag}");
        for (headers, status) in [
            (&[("If-None-Match", tag)][..], 304),
            (&[("If-None-Match", weak.as_str())], 304),
            (&[("If-None-Match", "\"other\"")], 200),
            (&[("If-Match", tag)], 200),
            (&[("If-Match", weak.as_str())], 412),
            (&[("If-Match", "\"other\"")], 412),
            (&[("If-Modified-Since", date)], 304),
            (&[("If-Modified-Since", NEW)], 304),
            (&[("If-Modified-Since", OLD)], 200),
            (&[("If-Unmodified-Since", date)], 200),
            (&[("If-Unmodified-Since", OLD)], 412),
            (&[("If-None-Match", "\"other\""), ("If-Modified-Since", NEW)], 200),
            (&[("If-Match", tag), ("If-Unmodified-Since", OLD)], 200),
            (&[("Range", "bytes=1-3"), ("If-Range", tag)], 206),
            (&[("Range", "bytes=1-3"), ("If-Range", date)], 206),
            (&[("Range", "bytes=1-3"), ("If-Range", weak.as_str())], 200),
            (&[("Range", "bytes=1-3"), ("If-Range", OLD)], 200),
            (&[("Range", "bytes=1-3"), ("If-None-Match", tag)], 304),
        ] {
            let answer = ask(&mut client, headers);
            assert_eq!(answer.status, status, "{headers:?}");
            match status {
                200 => assert_eq!(answer.text(), TEXT),
                206 => assert_eq!(answer.text(), &TEXT[1..=3]),
                304 => assert_eq!(answer.must("etag"), tag),
                _ => assert!(answer.text().starts_with("412 ")),
            }
        }
        server.stop();
    });
}

#[test]
fn a_changed_file_has_another_tag() {
    let site = site();
    let server = site.serve(ANY, &[]);
    let mut client = Client::connect(server.address);
    let before = client.get("/a.txt");
    site.file("a.txt", "something of another length");
    let tag = before.must("etag").to_owned();
    let after = ask(&mut client, &[("If-None-Match", &tag)]);
    assert_eq!((after.status, after.text()), (200, "something of another length"));
    let whole = ask(&mut client, &[("Range", "bytes=0-3"), ("If-Range", &tag)]);
    assert_eq!(whole.status, 200);
    server.stop();
}

#[test]
fn other_methods_are_refused_and_the_connection_goes_on() {
    let site = site();
    each_setup(|setup| {
        let server = site.serve(setup, &[]);
        let mut client = Client::connect(server.address);
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"] {
            let answer = client.ask(method, "/a.txt", &[]);
            assert_eq!((answer.status, answer.must("allow")), (405, "GET, HEAD"), "{method}");
        }
        client.send("POST /a.txt HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
        assert_eq!(client.answer("POST").status, 405);
        // Enough of a body that it does not come in one piece: it is read before the answer.
        client.send("POST /a.txt HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n");
        client.send(vec![b'x'; 900_000]);
        assert_eq!(client.answer("POST").status, 405);
        // A GET with a body is answered as one without.
        client.send("GET /a.txt HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
        assert_eq!(client.answer("GET").text(), TEXT);
        client.send(
            "PUT /a.txt HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
             5\r\nhello\r\n0\r\n\r\n",
        );
        assert_eq!(client.answer("PUT").status, 405);
        assert_eq!(client.get("/a.txt").text(), TEXT);
        server.stop();
    });
}

#[test]
fn nonsense_is_refused_and_others_are_served() {
    let site = site();
    let server = site.serve(ANY, &[]);
    let long = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "y".repeat(100_000));
    for (bytes, status) in [
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("hello\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
        (long.as_str(), 431),
    ] {
        let mut client = Client::connect(server.address);
        client.send(bytes);
        assert_eq!(client.header().status, status, "{}", &bytes[..bytes.len().min(60)]);
    }
    assert_eq!(Client::connect(server.address).get("/a.txt").text(), TEXT);
    server.stop();
}
