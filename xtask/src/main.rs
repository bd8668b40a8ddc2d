//! The project's own checks, run as `cargo xtask COMMAND`.
//!
//! One file a command. This file only picks the command and turns its outcome into an exit code.

mod asan;
mod bench_smoke;
mod ci;
mod command;
mod counts;
mod model;
mod refuse_uring;
mod shuttle;
mod stress;
mod tidy;
mod weaken;

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND

  ci [--quick]                 what CI runs; quick: fmt, tidy, clippy, unit tests
  tidy                         check the rules of STYLE.md
  model [CRATE…]               run the loom models
  model --weaken [PART…]       weaken the code, entry by entry of xtask/weaken.txt, and demand that
                               the models notice; PART of a path chooses files
  shuttle                      whole runtimes on random schedules
  asan                         the tests under AddressSanitizer and LeakSanitizer
  stress [--limits]            seeded stress tests; --limits adds limits in milliseconds
  bench-smoke                  every case of the lab, small, for termination and counts
  refuse-uring CMD [ARG…]      run a command for which the kernel refuses io_uring
  probe-uring                  say whether the kernel gives io_uring as raddle wants it
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
    let root = root();
    match args {
        ["ci"] => ci::run(&root, ci::Extent::Full),
        ["ci", "--quick"] => ci::run(&root, ci::Extent::Quick),
        ["tidy"] => tidy::run(&root),
        ["model", "--weaken", parts @ ..] => weaken::run(&root, parts),
        ["model", crates @ ..] => command::alone(&mut model::command(&root, crates)?),
        ["shuttle"] => command::alone(&mut shuttle::command(&root)),
        ["asan"] => asan::run(&root),
        ["stress"] => stress::run(&root, false),
        ["stress", "--limits"] => stress::run(&root, true),
        ["bench-smoke"] => bench_smoke::run(&root),
        ["refuse-uring", program, args @ ..] => Err(refuse_uring::exec(program, args)),
        ["probe-uring"] => Ok(refuse_uring::report()),
        _ => Err(USAGE.to_owned()),
    }
}

/// The folder of the workspace: the parent of this crate's.
fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}
