//! A run that shows nothing is a failure.

use super::some_passed;
use std::process::Command;

fn says(text: &str) -> bool {
    some_passed(Command::new("echo").arg(text)).expect("echo is there")
}

#[test]
fn a_run_without_tests_is_a_failure() {
    assert!(says("test result: ok. 3 passed; 0 failed; 0 ignored"));
    assert!(!says("test result: ok. 0 passed; 0 failed; 0 ignored"));
    assert!(!says("nothing at all"));
}
