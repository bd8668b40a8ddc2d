//! `one`: one sample of one case by one contender, in this process.

use crate::contenders::{self, Cpus, Entry};
use crate::machine;
use crate::memory;
use crate::outcome::Sample;
use crate::plan::Plan;
use crate::{cases, contenders::Contender};
use std::process::ExitCode;

/// Ends the process (by SIGALRM) when a sample hangs: after 20 s of a smoke run, else 120 s.
fn watchdog(plan: Plan) {
    // SAFETY: alarm only sets this process's timer; its signal's default action ends the process.
    unsafe { libc::alarm(plan.size(120, 20)) };
}

/// Runs an entry on its CPUs, under the watchdog.
pub(crate) fn sample(contender: &str, entry: &Entry, plan: Plan) -> Sample {
    watchdog(plan);
    machine::bind_to_cpus(match entry.cpus {
        Cpus::One => &[0],
        Cpus::Two => &[0, 1],
    });
    let unit = cases::find(entry.case).map_or("", |case| case.unit);
    Sample::new(entry.case, contender, unit, (entry.run)(plan))
}

/// Prints a sample's line; a mismatch is a failure.
///
/// Exits at once: threads that a case abandoned (a server, an idle runtime) are not waited for.
pub(crate) fn finish(sample: Sample) -> ExitCode {
    let code = i32::from(!sample.is_ok());
    match serde_json::to_string(&sample) {
        Ok(line) => println!("{line}"),
        Err(error) => eprintln!("{error}"),
    }
    std::process::exit(code)
}

/// The command `one CASE CONTENDER`.
pub(crate) fn main(case: &str, contender: &str, plan: Plan) -> ExitCode {
    let (entry, contender) = match look_up(case, contender) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match entry {
        Some(entry) => finish(sample(contender.name, &entry, plan)),
        None => probed(case, contender.name, plan),
    }
}

/// The timed entry, or `None` for a memory case, which the probe runs.
fn look_up(case: &str, name: &str) -> Result<(Option<Entry>, &'static Contender), String> {
    cases::find(case).ok_or_else(|| format!("no case {case}: see `raddle-lab list`"))?;
    let contender =
        contenders::find(name).ok_or_else(|| format!("no contender {name}: see `list`"))?;
    if contender.memory_entry(case).is_some() {
        return Ok((None, contender));
    }
    match contender.entry(case) {
        Some(entry) => Ok((Some(entry), contender)),
        None => Err(format!("{name} takes no part in {case}")),
    }
}

fn probed(case: &str, contender: &str, plan: Plan) -> ExitCode {
    match memory::ask_probe(case, contender, plan) {
        Ok(sample) => finish(sample),
        Err(error) => {
            let unit = cases::find(case).map_or("", |case| case.unit);
            finish(Sample::new(case, contender, unit, Err(error)))
        }
    }
}
