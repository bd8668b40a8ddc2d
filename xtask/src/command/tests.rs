//! Output, counts, exit codes and limits of programs that are run.

use super::{watched, watched_in};
use std::process::Command;
use std::time::{Duration, Instant};

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn lines_are_passed_on_and_counted() {
    let script = "echo one; echo 'test result: ok. 3 passed; 0 failed; 0 ignored'; printf end";
    let mut lines = String::new();
    let outcome = watched(&mut shell(script), LONG, |line| lines.push_str(line)).unwrap();
    assert!(outcome.success && !outcome.timed_out);
    assert_eq!((outcome.counts.passed, outcome.counts.failed), (3, 0));
    assert!(lines.starts_with("one\n") && lines.ends_with("end"), "{lines}");
}

#[test]
fn failure_is_seen() {
    assert!(!watched(&mut shell("exit 3"), LONG, |_| {}).unwrap().success);
    assert!(watched(&mut Command::new("no-such-program-of-ours"), LONG, |_| {}).is_err());
}

#[test]
fn a_program_that_hangs_is_ended_with_its_children() {
    let start = Instant::now();
    let mut command = shell("sh -c 'sleep 600; echo late' & wait");
    let outcome = watched_in(true, &mut command, Duration::from_millis(100), |_| {}).unwrap();
    assert!(outcome.timed_out && !outcome.success);
    assert!(start.elapsed() < Duration::from_secs(300));
}
