//! `cargo xtask stress [--limits]`: tests that want minutes or a quiet machine.
//!
//! The tests called `stress_…` make a few rounds in the ordinary suite and go on for as many
//! seconds as RADDLE_STRESS says here; one that fails says the seed to repeat it with. The tests
//! called `limit_…` return at once unless RADDLE_LIMITS is set: their limits in milliseconds only
//! mean something one test at a time with nothing else running.

use crate::command;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How long each stress test goes on.
const SECONDS: &str = "20";
/// Everything together, building included.
const WHOLE: Duration = Duration::from_secs(30 * 60);

/// Runs them. A run that finds no test is a failure: it would show nothing.
pub(crate) fn run(root: &Path, limits: bool) -> Result<bool, String> {
    let mut good = some_passed(&mut stress(root))?;
    if limits {
        good &= some_passed(&mut times(root))?;
    }
    Ok(good)
}

fn some_passed(command: &mut Command) -> Result<bool, String> {
    let outcome = command::watched(command, WHOLE, command::print)?;
    if outcome.counts.passed == 0 {
        println!("no test has passed");
    }
    Ok(outcome.success && outcome.counts.passed > 0)
}

/// The long ones.
fn stress(root: &Path) -> Command {
    let mut command = cargo(root);
    command.env("RADDLE_STRESS", SECONDS).args(["--package", "raddle-tests", "--", "stress_"]);
    command
}

/// Those with limits in milliseconds.
fn times(root: &Path) -> Command {
    let mut command = cargo(root);
    command.env("RADDLE_LIMITS", "1").args([
        "--package",
        "raddle-tests",
        "--",
        "limit_",
        "--test-threads=1",
    ]);
    command
}

fn cargo(root: &Path) -> Command {
    let mut command = command::cargo(root);
    command.args(["test", "--locked", "--profile", "model", "--tests", "--no-fail-fast"]);
    command
}

#[cfg(test)]
mod tests;
