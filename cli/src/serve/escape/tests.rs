//! Tables of what each alphabet keeps and what it replaces.

use super::*;

fn segment(bytes: &[u8]) -> String {
    let mut link = String::new();
    push_segment(&mut link, bytes);
    link
}

#[test]
fn links_keep_only_the_unreserved() {
    for (name, link) in [
        (&b"plain-name_1.~txt"[..], "plain-name_1.~txt"),
        (b"a b", "a%20b"),
        (b"a:b?c#d%e", "a%3Ab%3Fc%23d%25e"),
        (b"\"<>&'", "%22%3C%3E%26%27"),
        (b"a/b\\c", "a%2Fb%5Cc"),
        ("é".as_bytes(), "%C3%A9"),
        (b"\xff\n", "%FF%0A"),
        (b"", ""),
    ] {
        assert_eq!(segment(name), link);
    }
}

#[test]
fn html_has_no_markup_left() {
    let mut html = String::new();
    push_html(&mut html, "<a href=\"x\">'é' & b</a>");
    assert_eq!(html, "&lt;a href=&quot;x&quot;&gt;&#39;é&#39; &amp; b&lt;/a&gt;");
}

#[test]
fn log_lines_stay_one_line() {
    let mut line = String::new();
    push_log(&mut line, "/a\"b\\c\n\u{7f}é~ ");
    assert_eq!(line, "/a\\\"b\\\\c\\x0a\\x7f\\xc3\\xa9~ ");
}
