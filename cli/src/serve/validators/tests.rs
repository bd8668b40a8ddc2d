//! Tags differ whenever a version differs; dates are legal or absent.

use super::*;

const NOW: u64 = 2_000_000_000;

fn metadata(length: u64, seconds: i64, nanos: u32) -> Metadata {
    let stamp = Stamp { seconds, nanos };
    Metadata { length, modified: stamp, changed: stamp }
}

#[test]
fn every_part_of_the_tag_counts() {
    let base = metadata(10, 1_000_000_000, 5);
    let mut changed = base;
    changed.changed.nanos = 6;
    let tags: std::collections::HashSet<_> =
        [base, metadata(11, 1_000_000_000, 5), metadata(10, 1_000_000_000, 6), changed]
            .iter()
            .map(|file| Validators::of(file, NOW).etag.expect("files have one"))
            .collect();
    assert_eq!(tags.len(), 4);
    for tag in tags {
        assert!(tag.starts_with('"') && tag.ends_with('"'), "strong and quoted: {tag}");
        assert!(HeaderValue::from_str(&tag).is_ok());
    }
}

#[test]
fn dates_are_legal_or_absent() {
    for (seconds, now, date) in [
        (784_111_777, NOW, Some("Sun, 06 Nov 1994 08:49:37 GMT")),
        (0, NOW, Some("Thu, 01 Jan 1970 00:00:00 GMT")),
        (-1, NOW, None),
        (i64::MIN, NOW, None),
        (2_000_000_001, NOW, Some("Wed, 18 May 2033 03:33:20 GMT")),
        (i64::MAX, NOW, Some("Wed, 18 May 2033 03:33:20 GMT")),
        (i64::MAX, u64::MAX, None),
    ] {
        let header = Validators::of(&metadata(1, seconds, 0), now).modified_header();
        assert_eq!(header.as_ref().and_then(|value| value.to_str().ok()), date, "{seconds}");
    }
}

#[test]
fn dates_there_and_back() {
    for text in [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ] {
        assert_eq!(parse_date(text), Some(784_111_777), "{text}");
    }
    assert_eq!(parse_date("yesterday"), None);
    assert_eq!(date(u64::MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
}
