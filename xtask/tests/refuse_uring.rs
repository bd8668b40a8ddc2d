//! io_uring is really refused in a command run by refuse-uring, and in that command's children.

use std::process::{Command, Output};

fn xtask(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(args).output().expect("xtask runs")
}

#[test]
fn the_command_is_refused_with_eperm() {
    let output = xtask(&["refuse-uring", env!("CARGO_BIN_EXE_xtask"), "probe-uring"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("io_uring: refused") && text.contains("os error 1)"), "{text}");
    assert!(!output.status.success());
}

#[test]
fn children_of_the_command_are_refused_too() {
    let script = format!("{} probe-uring; true", env!("CARGO_BIN_EXE_xtask"));
    let output = xtask(&["refuse-uring", "sh", "-c", &script]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("os error 1)"), "{text}");
    assert!(output.status.success());
}

#[test]
fn everything_else_goes_through() {
    let output = xtask(&["refuse-uring", "sh", "-c", "echo $((1 + 1)); exit 7"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n");
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn a_command_that_does_not_exist_is_named() {
    let output = xtask(&["refuse-uring", "no-such-program-of-ours"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("cannot run no-such-program-of-ours"), "{text}");
    assert_eq!(output.status.code(), Some(2));
}
