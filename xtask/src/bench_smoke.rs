//! `cargo xtask bench-smoke`: every case of the lab in its smallest form.
//!
//! What is looked at is that each case ends and that its counts are exact, not how long it takes.

use crate::command;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The command that runs the lab.
pub(crate) fn command(root: &Path) -> Command {
    let mut command = command::cargo(root);
    command
        .args(["run", "--locked", "--release", "--package", "raddle-lab", "--bin", "raddle-lab"])
        .args(["--", "run", "--smoke"]);
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
