//! The probe's program, and asking it: `one mem_… CONTENDER` runs it and passes its line on.

use crate::contenders;
use crate::machine;
use crate::outcome::Sample;
use crate::plan::Plan;
use crate::sampling;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The probe's program: `CASE CONTENDER [--smoke]`, or `load …` as every lab binary.
pub(crate) fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "load") {
        return crate::load::main(&arguments[1..]);
    }
    let plan =
        Plan { smoke: arguments.iter().any(|argument| argument == "--smoke"), exactly: None };
    let [case, contender, ..] = arguments.as_slice() else {
        eprintln!("usage: raddle-lab-probe CASE CONTENDER [--smoke]");
        return ExitCode::from(2);
    };
    let found = contenders::find(contender).and_then(|found| found.memory_entry(case));
    let Some(entry) = found else {
        eprintln!("{contender} takes no part in {case}");
        return ExitCode::from(2);
    };
    machine::raise_file_limit();
    sampling::finish(sampling::sample(contender, &entry, plan))
}

/// Runs the probe for `one`, and gives its sample.
pub(crate) fn ask_probe(case: &str, contender: &str, plan: Plan) -> Result<Sample, String> {
    let program = probe_program()?;
    let mut command = Command::new(&program);
    command.args([case, contender]);
    if plan.smoke {
        command.arg("--smoke");
    }
    let output = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().ok_or_else(|| {
        format!("the probe said nothing: {}", String::from_utf8_lossy(&output.stderr).trim())
    })?;
    serde_json::from_str(line).map_err(|error| format!("the probe said {line}: {error}"))
}

/// The probe beside this program; built now if `cargo run` built only the lab.
fn probe_program() -> Result<PathBuf, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = this.with_file_name("raddle-lab-probe");
    if program.exists() {
        return Ok(program);
    }
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "-p", "raddle-lab", "--bin", "raddle-lab-probe"]);
    if this.parent().is_some_and(|folder| folder.ends_with("release")) {
        command.arg("--release");
    }
    let built = command.current_dir(env!("CARGO_MANIFEST_DIR")).status();
    match built {
        Ok(status) if status.success() && program.exists() => Ok(program),
        _ => Err(format!("{} is missing: cargo build -p raddle-lab --bins", program.display())),
    }
}
