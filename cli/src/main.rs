//! The command `raddle`: what can be asked for, and how an answer becomes an exit code.
//!
//! One file a subcommand; this one holds the list of them and the rule they share: exit code 0
//! for success, 1 with one line on standard error for what went wrong, 2 for misuse (clap's
//! code, with its usage text).

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod failure;
mod serve;

/// The command line of the raddle runtime.
#[derive(Parser)]
#[command(name = "raddle", version, about, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// The subcommands.
#[derive(Subcommand)]
enum Command {
    /// Serve a directory over HTTP/1.1
    Serve(serve::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Serve(options) => serve::run(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // A closed standard error leaves nobody to tell; the exit code still says it.
            let _ = writeln!(std::io::stderr(), "raddle: {failure}");
            ExitCode::FAILURE
        }
    }
}
