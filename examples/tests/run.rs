//! Runs every example, and compares its last line.

use std::process::Command;

fn check(program: &str, expected: &str) {
    let output = Command::new(program).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{program}: {output:?}");
    assert_eq!(text.lines().last(), Some(expected), "{program}");
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
fn bank() {
    check(env!("CARGO_BIN_EXE_bank"), "157 left");
}

#[test]
fn crashing_echo() {
    check(env!("CARGO_BIN_EXE_crashing_echo"), "echoed 3000 lines");
}

#[test]
fn ring() {
    check(env!("CARGO_BIN_EXE_ring"), "passed 300000 times");
}

#[test]
fn ctx_switch_probe() {
    check(env!("CARGO_BIN_EXE_ctx_switch_probe"), "2000 yields");
}

#[test]
fn shutdown() {
    check(env!("CARGO_BIN_EXE_shutdown"), "left behind: spinner");
}

/// The README shows this very program.
#[test]
fn first() {
    let program = include_str!("../src/bin/first.rs");
    let shown = program.split_once("\n\n").expect("a header and a program").1;
    let readme = include_str!("../../README.md");
    assert!(readme.contains(&format!("```rust\n{shown}```")), "README.md and first.rs differ");
    let output = Command::new(env!("CARGO_BIN_EXE_first")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
