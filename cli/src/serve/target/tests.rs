//! Paths that name something, paths that never may, and the links made from them.

use super::*;

fn path(encoded: &str) -> (String, bool) {
    let target = Target::parse(encoded).expect(encoded);
    (String::from_utf8_lossy(target.path()).into_owned(), target.wants_directory())
}

#[test]
fn legal_paths() {
    for (encoded, relative, directory) in [
        ("/", ".", true),
        ("//", ".", true),
        ("/.", ".", true),
        ("/a", "a", false),
        ("/a/", "a", true),
        ("/a/.", "a", true),
        ("/./a//b", "a/b", false),
        ("//etc/passwd", "etc/passwd", false),
        ("/a%20b/c%25", "a b/c%", false),
        ("/%2e/x", "x", false),
        ("/...", "...", false),
        ("/..a/b..", "..a/b..", false),
        ("/a%5C..%5Cb", "a\\..\\b", false),
        ("/%C3%A9", "é", false),
        ("/é", "é", false),
        ("/~user/$x;v=1,2", "~user/$x;v=1,2", false),
    ] {
        assert_eq!(path(encoded), (relative.to_owned(), directory), "{encoded}");
    }
    assert_eq!(Target::parse("/%ff%fe").expect("any bytes").path(), b"\xff\xfe");
}

#[test]
fn nothing_above_and_nothing_absolute() {
    for encoded in [
        "/..",
        "/../",
        "/../etc/passwd",
        "/a/../b",
        "/a/..",
        "/%2e%2e/etc/passwd",
        "/%2E./x",
        "/.%2e/x",
        "/a/%2e%2e/%2e%2e/b",
        "/..%2fetc%2fpasswd",
        "/%2Fetc/passwd",
        "/%2f",
        "/a%2Fb",
        "/..%2F..%2Fx",
    ] {
        assert_eq!(Target::parse(encoded), Err(BadTarget::Nowhere), "{encoded}");
    }
    let long = format!("/{}", "n".repeat(256));
    assert_eq!(Target::parse(&long), Err(BadTarget::Nowhere));
    assert!(Target::parse(&long[..256]).is_ok());
}

#[test]
fn doubly_encoded_dots_are_a_plain_name() {
    assert_eq!(path("/%252e%252e/x"), ("%2e%2e/x".to_owned(), false));
}

#[test]
fn malformed_paths() {
    for encoded in ["", "*", "a", "/%", "/%2", "/%zz", "/a%0", "/%00", "/a%00.html", "/%g0"] {
        assert_eq!(Target::parse(encoded), Err(BadTarget::Malformed), "{encoded}");
    }
}

#[test]
fn links_start_with_one_slash_and_end_with_one() {
    for (encoded, link) in [
        ("/", "/"),
        ("/a", "/a/"),
        ("//evil.example", "/evil.example/"),
        ("///evil.example//x", "/evil.example/x/"),
        ("/%5cevil", "/%5Cevil/"),
        ("/a b:c/%0d%0aX: y", "/a%20b%3Ac/%0D%0AX%3A%20y/"),
    ] {
        assert_eq!(Target::parse(encoded).expect(encoded).directory_link(), link);
    }
}

#[test]
fn names_and_children() {
    let root = Target::parse("/").expect("legal");
    assert!(root.is_root());
    assert_eq!(root.name(), b"");
    let child = root.child(b"a").child(b"index.html");
    assert_eq!(child.path(), b"a/index.html");
    assert_eq!(child.name(), b"index.html");
    assert!(!child.is_root() && !child.wants_directory());
}
