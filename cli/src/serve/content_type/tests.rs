//! Common names and names without a meaning.

use super::*;

#[test]
fn types_by_extension() {
    for (name, kind) in [
        ("index.html", "text/html; charset=utf-8"),
        ("INDEX.HTM", "text/html; charset=utf-8"),
        ("a.txt", "text/plain; charset=utf-8"),
        ("a.css", "text/css; charset=utf-8"),
        ("a.js", "text/javascript; charset=utf-8"),
        ("a.mjs", "application/javascript; charset=utf-8"),
        ("a.md", "text/markdown; charset=utf-8"),
        ("a.xml", "text/xml; charset=utf-8"),
        ("a.json", "application/json"),
        ("a.svg", "image/svg+xml"),
        ("a.png", "image/png"),
        ("a.jpg", "image/jpeg"),
        ("a.wasm", "application/wasm"),
        ("a.pdf", "application/pdf"),
        ("a.tar.gz", "application/gzip"),
        ("a.woff2", "font/woff2"),
        ("a.mp4", "video/mp4"),
        ("README", "application/octet-stream"),
        (".profile", "application/octet-stream"),
        ("a.", "application/octet-stream"),
        ("a.no-such-thing", "application/octet-stream"),
        ("", "application/octet-stream"),
    ] {
        assert_eq!(of(name.as_bytes()), kind, "{name}");
    }
    assert_eq!(of(b"\xff\xfe.html"), "text/html; charset=utf-8");
}
