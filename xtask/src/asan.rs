//! `cargo xtask asan`: the tests under AddressSanitizer, with LeakSanitizer on.
//!
//! The sanitizer needs an unstable flag, which `RUSTC_BOOTSTRAP` opens on the stable toolchain, and
//! an explicit target, so that build scripts and macros stay without it. Left out are the lab (its
//! peers are not ours to check), the checks themselves, and documentation examples. Before the run
//! a program that leaks is made, to see that a leak would be noticed at all.

use crate::command;
use std::fs;
use std::path::Path;
use std::process::Command;

const TARGET: &str = "target/asan";
/// Tests with this in their name measure memory, which the sanitizer needs a multiple of.
const MEASURES: &str = "bounded_memory";
/// Tests that go on in the child of a process with threads, which the sanitizer does not support.
const FORKS: &str = "forked_runtime";
const LEAK: &str = "fn main() { std::mem::forget(std::hint::black_box(Box::new([7u8; 99]))); }\n";

/// Runs the tests; the outcome is theirs.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    command::alone(&mut command(root)?)
}

/// The command that runs the tests under the sanitizer.
pub(crate) fn command(root: &Path) -> Result<Command, String> {
    let target = host()?;
    let options = match leaks_are_noticed(root, &target) {
        Ok(true) => "detect_leaks=1",
        Ok(false) => return Err("the sanitizer does not notice a leak".to_owned()),
        Err(reason) => {
            println!("asan: leaks cannot be looked for here: {reason}");
            "detect_leaks=0"
        }
    };
    let mut command = command::cargo(root);
    command
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("CARGO_TARGET_DIR", root.join(TARGET))
        .env("ASAN_OPTIONS", options)
        .args(["test", "--locked", "--workspace", "--exclude", "raddle-lab", "--exclude", "xtask"])
        .args(["--lib", "--bins", "--tests", "--no-fail-fast", "--target", &target])
        .args(["--", "--skip", MEASURES, "--skip", FORKS]);
    Ok(command)
}

/// The machine's own target, which has to be named for the sanitizer to work.
fn host() -> Result<String, String> {
    let said = command::output(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not tell its host".to_owned())
}

/// Runs a program that leaks. `Err` means that the tool cannot work on this machine, which happens
/// where tracing of processes is forbidden.
fn leaks_are_noticed(root: &Path, target: &str) -> Result<bool, String> {
    let folder = root.join(TARGET);
    let (source, program) = (folder.join("leak.rs"), folder.join("leak"));
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    fs::write(&source, LEAK).map_err(|error| error.to_string())?;
    let built = Command::new("rustc")
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["-Zsanitizer=address", "--edition", "2024", "--target", target, "-o"])
        .args([&program, &source])
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("the program that leaks did not compile".to_owned());
    }
    let output = Command::new(&program)
        .env("ASAN_OPTIONS", "detect_leaks=1")
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("LeakSanitizer has encountered a fatal error") {
        return Err("LeakSanitizer may not trace the process".to_owned());
    }
    Ok(!output.status.success() && said.contains("detected memory leaks"))
}
