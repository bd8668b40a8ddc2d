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

/// Strings made of what path tricks are made of: whatever is accepted is a list of plain names,
/// and its link leads back to it.
#[test]
fn whatever_is_accepted_is_plain() {
    const PIECES: [&str; 16] = [
        "/", "/", ".", "..", "%2e", "%2E", "%2f", "%5c", "%00", "%25", "%", "2e", "a", "\u{e9}",
        "%ff", "%c0%af",
    ];
    let (mut state, mut accepted) = (1u64, 0);
    for _ in 0..200_000 {
        let mut encoded = String::from("/");
        for _ in 0..8 {
            // Knuth's multiplier; the high bits are the random ones.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            encoded.push_str(PIECES[(state >> 60) as usize]);
        }
        let Ok(target) = Target::parse(&encoded) else { continue };
        accepted += 1;
        if !target.is_root() {
            for name in target.path().split(|byte| *byte == b'/') {
                assert!(!matches!(name, b"" | b"." | b".."), "{encoded}");
                assert!(!name.contains(&0), "{encoded}");
            }
        }
        let link = target.directory_link();
        let back = Target::parse(&link).expect("own links are legal");
        assert_eq!(back.path(), target.path(), "{encoded} by {link}");
        assert!(!link.starts_with("//") && link.ends_with('/'), "{link}");
    }
    assert!(accepted > 10_000, "{accepted}");
}
