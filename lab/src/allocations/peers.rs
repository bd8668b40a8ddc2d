//! The lab's cases of primitives, by every contender: allocations an operation.
//!
//! A case is run with two numbers of operations; the difference of the two counts is free of what
//! starting and ending it allocates. Shown, not judged, but for raddle by hand: what else runs, and
//! when, is up to tasks and threads, whose own allocations cannot be told from the primitive's.

use super::report::Report;
use crate::cases::CASES;
use crate::contender::Entry;
use crate::contenders::LIBRARIES;
use crate::counting::count;
use crate::plan::Plan;

/// Operations of the two runs; each has an untimed and a timed round.
const FEW: u64 = 100;
const MANY: u64 = 300;

/// What raddle's cases allocate because they make something each time.
static DOCUMENTED: &[(&str, f64)] = &[("oneshot", 1.0), ("waitgroup", 1.0)];

/// The case whose own body allocates.
const LEFT_OUT: &str = "once_cell_8_waiters";

/// Whether nothing but the case runs while it is counted.
fn is_by_hand(case: &str) -> bool {
    let elsewhere = case.ends_with("_tasks")
        || ["mutex_contended", "rwlock_mixed_90", "rwlock_mixed_50", "rwlock_pressure"]
            .contains(&case);
    !elsewhere
}

pub(super) fn cases(report: &mut Report) {
    let heads: Vec<&str> = LIBRARIES.iter().map(|library| library.0).collect();
    report.table(&format!("| case | {} |", heads.join(" | ")));
    let libraries: Vec<Vec<Entry>> = LIBRARIES.iter().map(|library| (library.1)()).collect();
    for name in CASES.iter().map(|case| case.name).filter(|name| *name != LEFT_OUT) {
        let entry = |entries: &Vec<Entry>| entries.iter().find(|entry| entry.case == name).copied();
        let entries: Vec<Option<Entry>> = libraries.iter().map(entry).collect();
        if entries.iter().all(Option::is_none) {
            continue;
        }
        let cells: Vec<String> =
            entries.iter().zip(&heads).map(|(entry, who)| cell(report, *entry, who)).collect();
        report.text += &format!("| {name} | {} |\n", cells.join(" | "));
    }
}

fn cell(report: &mut Report, entry: Option<Entry>, who: &str) -> String {
    let Some(entry) = entry else { return String::new() };
    let calls = |units| {
        let before = count().calls;
        let verdict = (entry.run)(Plan { smoke: false, exactly: Some(units) });
        verdict.map(|_| count().calls - before)
    };
    let each = match (calls(FEW), calls(MANY)) {
        (Ok(few), Ok(many)) => many.saturating_sub(few) as f64 / (2 * (MANY - FEW)) as f64,
        (Err(error), _) | (_, Err(error)) => {
            report.judge(who != "raddle" && !is_by_hand(entry.case));
            return error;
        }
    };
    let documented = DOCUMENTED.iter().find(|row| row.0 == entry.case).map_or(0.0, |row| row.1);
    if who == "raddle" && is_by_hand(entry.case) && (each - documented).abs() > 0.01 {
        report.judge(false);
        return format!("**{each:.2}**");
    }
    format!("{each:.2}")
}
