//! The memory cases, run by the probe: bytes for each task, timer, connection.
//!
//! The value is what the allocator was asked for (`counting`), cold: nothing was warmed up but the
//! runtime itself, so that pooled memory counts. What has a stack of its own gets it from mmap, past
//! the allocator: there the value is resident memory. Both are among the figures, and so is the
//! number of allocations.

mod connection;
mod gate;
mod task;
mod timer;

pub(crate) use connection::connection;
pub(crate) use task::{stacks as task_stacks, tasks as task_tasks};
pub(crate) use timer::{stacks as timer_stacks, tasks as timer_tasks};

use crate::contenders;
use crate::counting::{self, Count};
use crate::machine;
use crate::one;
use crate::outcome::{Outcome, Sample, Verdict};
use crate::plan::Plan;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// What the value of a memory case stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Bytes asked of the allocator.
    Allocator,
    /// Resident bytes.
    Resident,
}

/// Memory at one moment.
#[derive(Clone, Copy, Debug)]
struct Level {
    count: Count,
    resident: u64,
}

impl Level {
    fn now() -> Level {
        Level { count: counting::count(), resident: machine::resident() }
    }

    /// What has been added since, for each of `n`.
    fn growth(self, n: u64, basis: Basis) -> Outcome {
        let now = Level::now();
        let each = |bytes: i64| bytes as f64 / n as f64;
        let asked = each(now.count.live - self.count.live);
        let resident = each(now.resident as i64 - self.resident as i64);
        let value = if basis == Basis::Allocator { asked } else { resident };
        Outcome { value, n, ..Outcome::default() }
            .with("allocator_bytes", asked)
            .with("resident_bytes", resident)
            .with("allocations", each((now.count.calls - self.count.calls) as i64))
    }
}

/// The probe's program: `CASE CONTENDER [--smoke]`, or `load …` as every lab binary.
pub(crate) fn probe_main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "load") {
        return crate::load::main(&arguments[1..]);
    }
    let plan = Plan { smoke: arguments.iter().any(|argument| argument == "--smoke") };
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
    one::finish(one::sample(contender, &entry, plan))
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

/// A whole number of things that is also the unit of the average.
fn sized(plan: Plan, full: u64, tiny: u64) -> u64 {
    plan.size(full, tiny)
}

/// The result of a case that also had to run to its end.
fn completed(outcome: Outcome, got: u64, wanted: u64) -> Verdict {
    crate::outcome::expect_equal("completed", got, wanted)?;
    Ok(outcome)
}
