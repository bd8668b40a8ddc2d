//! The project's own checks, run as `cargo xtask COMMAND`.
//!
//! One file a command. This file only picks the command and turns its outcome into an exit code.

mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND

  tidy                         check the rules of STYLE.md
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match dispatch(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::from(2)
        }
    }
}

/// Runs one command. `Ok(false)` means that the command did its work and found something wrong.
fn dispatch(args: &[&str]) -> Result<bool, String> {
    match args {
        ["tidy"] => tidy::run(&root()),
        _ => Err(USAGE.to_owned()),
    }
}

/// The folder of the workspace: the parent of this crate's.
fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}
