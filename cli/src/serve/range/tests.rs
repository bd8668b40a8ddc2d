//! The table of the header, row by row.

use super::*;

const HUGE: &str = "99999999999999999999999999";

fn part(first: u64, last: u64) -> Selection {
    Selection::Part(Span { first, last })
}

#[test]
fn one_range() {
    for (value, selection) in [
        ("bytes=0-0", part(0, 0)),
        ("bytes=0-9", part(0, 9)),
        ("bytes=0-", part(0, 9)),
        ("bytes=3-5", part(3, 5)),
        ("bytes=9-9", part(9, 9)),
        ("bytes=9-", part(9, 9)),
        ("bytes=5-100", part(5, 9)),
        ("bytes=-1", part(9, 9)),
        ("bytes=-10", part(0, 9)),
        ("bytes=-11", part(0, 9)),
        ("BYTES=1-2", part(1, 2)),
        ("bytes= 1-2 ", part(1, 2)),
        ("bytes=,1-2,", part(1, 2)),
        ("bytes=007-008", part(7, 8)),
    ] {
        assert_eq!(select(value, 10), selection, "{value}");
    }
    assert_eq!(select(&format!("bytes=4-{HUGE}"), 10), part(4, 9));
    assert_eq!(select(&format!("bytes=-{HUGE}"), 10), part(0, 9));
}

#[test]
fn unsatisfiable() {
    for value in ["bytes=10-", "bytes=10-10", "bytes=11-20", "bytes=-0", "bytes=10-,20-30,-0"] {
        assert_eq!(select(value, 10), Selection::Unsatisfiable, "{value}");
    }
    assert_eq!(select(&format!("bytes={HUGE}-"), 10), Selection::Unsatisfiable);
    assert_eq!(select(&format!("bytes={HUGE}-{HUGE}"), 10), Selection::Unsatisfiable);
}

#[test]
fn what_is_not_understood_is_ignored() {
    for value in [
        "",
        "bytes",
        "bytes=",
        "bytes=,",
        "bytes=-",
        "bytes=a-b",
        "bytes=1",
        "bytes=5-4",
        "bytes=1-2x",
        "bytes=+1-2",
        "bytes=1--2",
        "bytes=--1",
        "bytes=1 - 2",
        "bytes =1-2",
        "items=0-1",
        "bytes=0-1,x",
        "bytes=0-1;2-3",
        "bytes=0x1-2",
        "none",
        "=0-1",
    ] {
        assert_eq!(select(value, 10), Selection::Whole, "{value}");
    }
    assert_eq!(select(&format!("bytes={HUGE}-1"), 10), Selection::Whole);
}

#[test]
fn several_ranges() {
    for (value, selection) in [
        ("bytes=0-1,3-4", Selection::Whole),
        ("bytes=0-4,5-9", Selection::Whole),
        ("bytes=0-0,-1", Selection::Whole),
        ("bytes=3-4,10-", part(3, 4)),
        ("bytes=20-30, 3-4", part(3, 4)),
        ("bytes=-0,-2", part(8, 9)),
    ] {
        assert_eq!(select(value, 10), selection, "{value}");
    }
}

#[test]
fn empty_file() {
    assert_eq!(select("bytes=0-", 0), Selection::Unsatisfiable);
    assert_eq!(select("bytes=0-0", 0), Selection::Unsatisfiable);
    assert_eq!(select("bytes=-0", 0), Selection::Unsatisfiable);
    assert_eq!(select("bytes=-5", 0), Selection::Whole);
}

#[test]
fn edges_of_the_number_space() {
    assert_eq!(select("bytes=0-", u64::MAX), part(0, u64::MAX - 1));
    assert_eq!(part(0, u64::MAX - 1), select("bytes=-18446744073709551615", u64::MAX));
    assert_eq!(Span { first: 0, last: u64::MAX - 1 }.len(), u64::MAX);
}

#[test]
fn every_pair_against_an_oracle() {
    let file: Vec<u64> = (0..6).collect();
    for first in 0..8u64 {
        for last in first..8u64 {
            let wanted: Vec<u64> =
                file.iter().copied().filter(|at| (first..=last).contains(at)).collect();
            let got = select(&format!("bytes={first}-{last}"), 6);
            match (wanted.first(), wanted.last()) {
                (Some(a), Some(b)) => {
                    assert_eq!(got, part(*a, *b));
                    assert_eq!(Span { first: *a, last: *b }.len(), wanted.len() as u64);
                }
                _ => assert_eq!(got, Selection::Unsatisfiable),
            }
        }
    }
}
