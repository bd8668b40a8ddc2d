//! `cargo xtask stress [--limits]`: tests that want minutes or a quiet machine.
//!
//! The tests called `stress_…` and `limit_…` in the crate of tests return at once unless a variable
//! asks for them: RADDLE_STRESS for seeded runs under a watchdog, RADDLE_LIMITS for limits in
//! milliseconds, which only mean something one test at a time with nothing else running.

use crate::command;
use std::path::Path;
use std::process::Command;

/// The command that runs them.
pub(crate) fn command(root: &Path, limits: bool) -> Command {
    let mut command = command::cargo(root);
    command
        .env("RADDLE_STRESS", "1")
        .args(["test", "--locked", "--package", "raddle-tests", "--profile", "model"])
        .args(["--no-fail-fast", "--", "stress_"]);
    if limits {
        command.env("RADDLE_LIMITS", "1").args(["limit_", "--test-threads=1"]);
    }
    command
}
