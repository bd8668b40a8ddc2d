//! Making one sample in this process: its CPUs, its watchdog, its line.

use crate::cases;
use crate::contender::{Cpus, Entry};
use crate::machine;
use crate::outcome::Sample;
use crate::plan::Plan;
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
