//! `cargo xtask shuttle`: whole runtimes on schedules drawn by shuttle.
//!
//! A run is a test whose name starts with `shuttle_`. Compiled with `--cfg shuttle`, the shim of
//! raddle-base stands for shuttle's types. Seeds are fixed; one that fails is printed with its
//! schedule, and `SHUTTLE_RANDOM_SEED` repeats it. One test at a time: statics of the process are
//! shuttle's as well, and belong to one run.

use crate::command;
use std::path::Path;
use std::process::Command;

/// Where compiled runs lie, relative to the project.
const TARGET: &str = "target/shuttle";
/// The crate that has them.
const PACKAGE: &str = "raddle-runtime";

/// The command that runs them all.
pub(crate) fn command(root: &Path) -> Command {
    let mut command = command::cargo(root);
    command.env("RUSTFLAGS", "--cfg shuttle").env("CARGO_TARGET_DIR", root.join(TARGET)).args([
        "test",
        "--locked",
        "--profile",
        "model",
        "--lib",
        "--no-fail-fast",
        "--package",
        PACKAGE,
        "--",
        "--test-threads=1",
        "shuttle_",
    ]);
    command
}
