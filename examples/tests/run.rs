//! Runs every example, and compares its last line.

use std::process::Command;

fn check(program: &str, expected: &str) {
    let output = Command::new(program).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{program}: {output:?}");
    assert_eq!(text.lines().last(), Some(expected), "{program}");
}

#[test]
fn hello() {
    check(env!("CARGO_BIN_EXE_hello"), "the answer is 42");
}

#[test]
fn echo() {
    check(env!("CARGO_BIN_EXE_echo"), "echoed 1000 bytes");
}

#[test]
fn pinned() {
    check(env!("CARGO_BIN_EXE_pinned"), "counted to 100");
}

#[test]
fn shutdown() {
    check(env!("CARGO_BIN_EXE_shutdown"), "left behind: spinner");
}
