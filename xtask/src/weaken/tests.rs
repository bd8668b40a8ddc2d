//! The form of the list, how an outcome is judged, and that the real list fits the tree.

use super::{Expect, Verdict, judge, parse, problem, starts};
use crate::command::Outcome;
use crate::counts::Counts;

const GOOD: &str = "# comment
file: crates/raddle-base/src/deque.rs
find: store(1, Release)
with: store(1, Relaxed)
red: model_push

file: crates/raddle-base/src/deque.rs
find: a:
find:   b
with: c
unseen: loom has no weaker fence
";

#[test]
fn entries_are_read() {
    let entries = parse(GOOD).unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[0].package(), "raddle-base");
    assert_eq!(entries[0].line, 2);
    assert_eq!(entries[0].expect, Expect::Red("model_push".to_owned()));
    assert_eq!(entries[1].find, "a:\n  b");
    assert_eq!(entries[1].expect, Expect::Unseen("loom has no weaker fence".to_owned()));
}

#[test]
fn broken_entries_are_refused_with_their_line() {
    let line = |text: &str| parse(text).unwrap_err().0;
    assert_eq!(line("\nfile: a\nfind: b\nwith: c\n"), 2);
    assert_eq!(line("file: a\nfind: b\nwith: c\nred: d\nunseen: e\n"), 1);
    assert_eq!(line("file: a\nfnd: b\n"), 2);
    assert_eq!(line("file: a\nnonsense\n"), 2);
    assert_eq!(line("file: a\nwith: c\nred: d\n"), 1);
}

#[test]
fn the_text_must_stand_in_the_file_once() {
    let entry = &parse(GOOD).unwrap()[0];
    assert_eq!(problem(entry, Some("x.store(1, Release);")), None);
    assert!(problem(entry, Some("")).is_some());
    assert!(problem(entry, Some("store(1, Release) store(1, Release)")).is_some());
    assert!(problem(entry, None).is_some());
}

fn outcome(success: bool, passed: u64, failed: u64, started: bool) -> Verdict {
    let counts = Counts { passed, failed };
    judge(&Outcome { success, counts, timed_out: false }, started, "model_x")
}

#[test]
fn only_a_failed_test_is_red() {
    assert_eq!(outcome(false, 3, 1, true), Verdict::Red);
    assert!(matches!(outcome(true, 1, 0, true), Verdict::Wrong(why) if why.contains("green")));
    assert!(matches!(outcome(true, 0, 0, false), Verdict::Wrong(why) if why.contains("no test")));
    assert!(matches!(outcome(false, 0, 0, false), Verdict::Wrong(why) if why.contains("compile")));
}

#[test]
fn a_program_that_dies_in_its_tests_is_red_and_one_that_hangs_is_not() {
    assert_eq!(outcome(false, 0, 0, true), Verdict::Red);
    let hung = Outcome { success: false, counts: Counts::default(), timed_out: true };
    assert!(matches!(judge(&hung, true, "x"), Verdict::Wrong(why) if why.contains("end")));
    assert!(starts("running 3 tests\n") && !starts("running 0 tests\n") && !starts("test a"));
}
