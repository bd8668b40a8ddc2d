//! `cargo xtask bench-smoke`: every case of the lab in its smallest form.
//!
//! What is looked at is that each case ends and that its counts are exact, not how long it takes.
//! The lab is built for that in a target folder of its own.

use crate::command;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Apart from the programs that measure.
const TARGET: &str = "target/smoke";

/// Builds and runs.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    Ok(command::alone(&mut build(root))? && command::alone(&mut command(root))?)
}

/// The command that builds the lab and the program that counts allocations for it.
pub(crate) fn build(root: &Path) -> Command {
    let mut command = cargo(root);
    command.args(["build", "--locked", "--release", "--package", "raddle-lab", "--bins"]);
    command
}

/// The command that runs the lab.
pub(crate) fn command(root: &Path) -> Command {
    let mut command = cargo(root);
    command
        .args(["run", "--locked", "--release", "--package", "raddle-lab", "--bin", "raddle-lab"])
        .args(["--", "run", "--smoke"]);
    command
}

/// Nothing is measured, so optimising the whole program at once would be a waste of minutes.
fn cargo(root: &Path) -> Command {
    let mut command = command::cargo(root);
    command
        .env("CARGO_TARGET_DIR", root.join(TARGET))
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false");
    command
}

/// Does the lab have a smoke mode yet?
pub(crate) fn exists(root: &Path) -> bool {
    mentions(&root.join("lab/src"))
}

fn mentions(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return mentions(&path);
        }
        fs::read_to_string(&path).is_ok_and(|text| text.contains("smoke"))
    })
}
