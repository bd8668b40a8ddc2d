//! `cargo xtask ci [--quick]`: everything that must hold before a change is taken.
//!
//! This list is the only one: the script in `.ci` runs this command and nothing else. Steps run one
//! after another; their output goes through; the test summaries in it are added up. A step without
//! tests of its own counts as one check. The last line is the sum, whatever happened before.

mod steps;
#[cfg(test)]
mod tests;

use crate::command;
use crate::counts::Counts;
use std::path::Path;
use std::time::{Duration, Instant};
use steps::{Step, Work};

/// One step that takes longer hangs.
const STEP_LIMIT: Duration = Duration::from_secs(40 * 60);
/// All steps together.
const WHOLE_LIMIT: Duration = Duration::from_secs(85 * 60);

/// How much is run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What a push should survive: ten minutes.
    Quick,
    /// Everything.
    Full,
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    Passed,
    Failed(String),
    Skipped(String),
}

/// Runs the list. `Ok(true)`: something was run and nothing failed.
pub(crate) fn run(root: &Path, extent: Extent) -> Result<bool, String> {
    let steps = match extent {
        Extent::Quick => steps::quick(root),
        Extent::Full => steps::full(root),
    };
    let total = run_steps(steps);
    println!("{} passed, {} failed", total.passed, total.failed);
    Ok(total.failed == 0 && total.passed > 0)
}

fn run_steps(steps: Vec<Step>) -> Counts {
    let start = Instant::now();
    let mut total = Counts::default();
    let mut table = Vec::new();
    for step in steps {
        println!("\n=== {}", step.name);
        let began = Instant::now();
        let left = WHOLE_LIMIT.saturating_sub(start.elapsed()).min(STEP_LIMIT);
        let (result, counts) = perform(step.work, left);
        total += checks(&result, counts);
        let failed = matches!(result, Fate::Failed(_));
        table.push((step.name, began.elapsed(), result, counts));
        if failed && step.needed_by_all {
            println!("\n=== the remaining steps need {} and are left out", step.name);
            break;
        }
    }
    println!("\n=== {:.0} s", start.elapsed().as_secs_f64());
    for (name, time, result, counts) in &table {
        let seconds = time.as_secs_f64();
        let tests = if counts.any() { format!("{} passed", counts.passed) } else { String::new() };
        let (word, why) = match result {
            Fate::Passed => ("ok", tests),
            Fate::Failed(why) => ("FAILED", why.clone()),
            Fate::Skipped(why) => ("skipped", why.clone()),
        };
        println!("{name:<18} {seconds:>6.0} s  {word:<8} {why}");
    }
    total
}

/// What a step adds to the sum: its tests, and one check if it has none or failed outside of them.
fn checks(result: &Fate, tests: Counts) -> Counts {
    let mut sum = tests;
    match result {
        Fate::Passed if !tests.any() => sum.passed += 1,
        Fate::Failed(_) if tests.failed == 0 => sum.failed += 1,
        _ => {}
    }
    sum
}

fn perform(work: Work, limit: Duration) -> (Fate, Counts) {
    match work {
        Work::Skip(why) => {
            println!("skipped: {why}");
            (Fate::Skipped(why), Counts::default())
        }
        Work::Call(call) => match call() {
            Ok(true) => (Fate::Passed, Counts::default()),
            Ok(false) => (Fate::Failed("see above".to_owned()), Counts::default()),
            Err(error) => (failed(error), Counts::default()),
        },
        Work::Run(Err(error)) => (failed(error), Counts::default()),
        Work::Run(Ok(mut command)) => match command::watched(&mut command, limit, command::print) {
            Err(error) => (failed(error), Counts::default()),
            Ok(outcome) if outcome.timed_out => {
                (failed(format!("not done after {:.0} s", limit.as_secs_f64())), outcome.counts)
            }
            Ok(outcome) if outcome.success => (Fate::Passed, outcome.counts),
            Ok(outcome) => {
                let why = match outcome.counts.failed {
                    0 => "see above".to_owned(),
                    n => format!("{n} failed"),
                };
                (failed(why), outcome.counts)
            }
        },
    }
}

fn failed(why: String) -> Fate {
    println!("FAILED: {why}");
    Fate::Failed(why)
}
