//! Runs a test of this binary again in a process of its own, for what ends a process.

use std::env;
use std::process::{Command, Output};

const VARIABLE: &str = "RADDLE_FIBER_CHILD";

/// Is this the process in which `name` may do its worst?
pub(crate) fn is(name: &str) -> bool {
    env::var(VARIABLE).is_ok_and(|value| value == name)
}

/// Runs the test of this full name (`module::function`) in a child, and returns what came out.
pub(crate) fn run(name: &str) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(VARIABLE, name).env("RUST_BACKTRACE", "0");
    command.output().unwrap()
}

/// What the child wrote to standard error.
pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
