//! How the sum comes about: tests, steps without tests, failures outside of tests, early stops.

use super::steps::{Step, Work};
use super::{Fate, checks, run_steps};
use crate::counts::Counts;
use std::process::Command;

fn shell(name: &'static str, script: &str, needed_by_all: bool) -> Step {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    Step { name, work: Work::Run(Ok(command)), needed_by_all }
}

fn sum(steps: Vec<Step>) -> (u64, u64) {
    let total = run_steps(steps);
    (total.passed, total.failed)
}

const OK: &str = "echo 'test result: ok. 4 passed; 0 failed; 0 ignored'";
const BAD: &str = "echo 'test result: FAILED. 2 passed; 3 failed; 0 ignored'; exit 101";

#[test]
fn tests_of_all_steps_are_added_up() {
    let steps = vec![shell("a", OK, false), shell("b", BAD, false), shell("c", OK, false)];
    assert_eq!(sum(steps), (10, 3));
}

#[test]
fn a_step_without_tests_is_one_check() {
    assert_eq!(sum(vec![shell("a", "true", false), shell("b", "false", false)]), (1, 1));
}

#[test]
fn a_step_that_fails_outside_its_tests_is_a_failure() {
    assert_eq!(sum(vec![shell("a", &format!("{OK}; exit 1"), false)]), (4, 1));
    let broken =
        Step { name: "b", work: Work::Run(Err("no target".to_owned())), needed_by_all: false };
    assert_eq!(sum(vec![broken]), (0, 1));
}

#[test]
fn skipped_steps_add_nothing() {
    let step = Step { name: "a", work: Work::Skip("why".to_owned()), needed_by_all: false };
    assert_eq!(sum(vec![step]), (0, 0));
    let none = checks(&Fate::Skipped(String::new()), Counts::default());
    assert!(!none.any());
}

#[test]
fn a_failed_build_stops_the_rest() {
    assert_eq!(sum(vec![shell("a", "false", true), shell("b", OK, false)]), (0, 1));
    assert_eq!(sum(vec![shell("a", "true", true), shell("b", OK, false)]), (5, 0));
}

#[test]
fn calls_count_like_steps() {
    let call = |answer: Result<bool, String>| Step {
        name: "a",
        work: Work::Call(Box::new(move || answer)),
        needed_by_all: false,
    };
    assert_eq!(sum(vec![call(Ok(true)), call(Ok(false)), call(Err("x".to_owned()))]), (1, 2));
}
