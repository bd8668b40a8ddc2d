//! The bars name what exists, and a mismatch never meets one.

use super::*;
use crate::contenders;
use crate::outcome::{Outcome, Sample};
use lines::absolute;

#[test]
fn bars_name_cases_and_contenders_that_take_part() {
    let relative = RELATIVE.iter().flat_map(|bar| [(bar.0, bar.1), (bar.0, bar.2)]);
    let absolute = ABSOLUTE.iter().map(|bar| (bar.0, bar.1));
    let waits = service::WAITS.iter().flat_map(|bar| bar.by.iter().map(|name| (bar.case, *name)));
    let figures = service::FIGURES.iter().flat_map(|bar| [(bar.case, bar.a), (bar.b_case, bar.b)]);
    for (case, name) in relative.chain(absolute).chain(waits).chain(figures) {
        let contender = contenders::find(name).unwrap();
        assert!(contender.takes(case), "{name} {case}");
    }
}

#[test]
fn an_absolute_bar_is_met_at_the_limit_and_by_checked_samples_only() {
    let outcome = Outcome { value: 192.0, n: 1, ..Outcome::default() };
    let sample = Sample::new("mem_task", "raddle", "bytes", Ok(outcome));
    assert!(absolute(&sample, "value", 192.0).1);
    assert!(!absolute(&sample, "value", 191.9).1);
    assert!(!absolute(&sample, "nothing", 1e9).1);
    let bad = Sample::new("mem_task", "raddle", "bytes", Err("lost one".to_owned()));
    assert!(!absolute(&bad, "value", 1e9).1, "a failed sample has the value 0");
}
