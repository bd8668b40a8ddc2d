//! `one`: one sample of one case by one contender, in this process (or, for memory, in the probe).

use crate::cases;
use crate::contender::{Contender, Entry};
use crate::contenders;
use crate::machine;
use crate::outcome::Sample;
use crate::plan::Plan;
use crate::probe;
use crate::sampling::{finish, sample};
use std::process::ExitCode;

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
        Some(entry) => {
            machine::keep_freed_memory();
            finish(sample(contender.name, &entry, plan))
        }
        None => probed(case, contender.name, plan),
    }
}

/// The timed entry, or `None` for a memory case, which the probe runs.
fn look_up(case: &str, name: &str) -> Result<(Option<Entry>, &'static Contender), String> {
    cases::find(case).ok_or_else(|| format!("no case {case}: see `raddle-lab list`"))?;
    let contender = contenders::find(name)
        .ok_or_else(|| format!("no contender {name}: see `raddle-lab list`"))?;
    if contender.memory_entry(case).is_some() {
        return Ok((None, contender));
    }
    match contender.entry(case) {
        Some(entry) => Ok((Some(entry), contender)),
        None => Err(format!("{name} takes no part in {case}")),
    }
}

fn probed(case: &str, contender: &str, plan: Plan) -> ExitCode {
    match probe::ask_probe(case, contender, plan) {
        Ok(sample) => finish(sample),
        Err(error) => {
            let unit = cases::find(case).map_or("", |case| case.unit);
            finish(Sample::new(case, contender, unit, Err(error)))
        }
    }
}
