//! Which lines count, and that they sum up.

use super::Counts;

fn read(lines: &[&str]) -> (u64, u64) {
    let mut counts = Counts::default();
    lines.iter().for_each(|line| counts.read(line));
    (counts.passed, counts.failed)
}

#[test]
fn summaries_of_test_programs_are_added_up() {
    let ok = "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out";
    let failed = "test result: FAILED. 7 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
    assert_eq!(read(&[ok]), (5, 0));
    assert_eq!(read(&[ok, "running 3 tests", failed]), (12, 2));
}

#[test]
fn other_lines_do_not_count() {
    assert_eq!(read(&["test a ... ok", "5 passed; 0 failed", "test result: odd", ""]), (0, 0));
    assert!(!Counts::default().any());
}
