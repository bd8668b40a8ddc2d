//! Order, links and text, with names made to break them.

use super::*;

fn target(path: &str) -> Target {
    Target::parse(path).expect("legal")
}

fn entry(name: &[u8], kind: Kind) -> Entry {
    Entry { name: name.to_vec(), kind, modified: 784_111_777 }
}

/// The `(href, text)` of each link of a page.
fn links(html: &str) -> Vec<(&str, &str)> {
    html.split("<a href=\"")
        .skip(1)
        .map(|rest| {
            let (href, rest) = rest.split_once("\">").expect("closed attribute");
            (href, rest.split_once("</a>").expect("closed element").0)
        })
        .collect()
}

#[test]
fn directories_first_then_names_in_byte_order() {
    let page = page(
        &target("/"),
        vec![
            entry(b"b", Kind::File(2)),
            entry(b"z", Kind::Directory),
            entry(b"a", Kind::File(9)),
            entry(b"Z", Kind::File(0)),
            entry(b"c", Kind::Directory),
        ],
    );
    assert_eq!(links(&page), [("c/", "c/"), ("z/", "z/"), ("Z", "Z"), ("a", "a"), ("b", "b")]);
}

#[test]
fn names_cannot_break_out() {
    let page = page(
        &target("/"),
        vec![
            entry(b"\"><script>alert(1)</script>", Kind::File(1)),
            entry(b"a b&c", Kind::Directory),
            entry(b"javascript:alert(1)", Kind::File(1)),
            entry(b"x?y#z%41", Kind::File(1)),
            entry(b"\xff.txt", Kind::File(1)),
        ],
    );
    assert_eq!(
        links(&page),
        [
            ("a%20b%26c/", "a b&amp;c/"),
            (
                "%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E",
                "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"
            ),
            ("javascript%3Aalert%281%29", "javascript:alert(1)"),
            ("x%3Fy%23z%2541", "x?y#z%41"),
            ("%FF.txt", "\u{fffd}.txt"),
        ]
    );
    assert!(!page.contains("<script"));
}

#[test]
fn links_lead_back_to_the_name() {
    let name: Vec<u8> = (1..=255).filter(|byte| *byte != b'/').collect();
    let page = page(&target("/"), vec![entry(&name[..200], Kind::File(1))]);
    let back = target(&format!("/{}", links(&page)[0].0));
    assert_eq!(back.path(), &name[..200]);
}

#[test]
fn only_the_root_has_no_way_up() {
    assert!(links(&page(&target("/"), vec![])).is_empty());
    let page = page(&target("/a%3Cb/c"), vec![]);
    assert_eq!(links(&page), [("../", "../")]);
    assert!(page.contains("<title>/a&lt;b/c/</title>"));
}

#[test]
fn sizes_and_dates() {
    let page =
        page(&target("/"), vec![entry(b"f", Kind::File(1234)), entry(b"d", Kind::Directory)]);
    assert!(page.contains("</a></td><td>1234</td><td>Sun, 06 Nov 1994 08:49:37 GMT</td>"));
    assert!(page.contains("</a></td><td></td><td>Sun, 06 Nov 1994 08:49:37 GMT</td>"));
}
