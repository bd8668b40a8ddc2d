//! The catalogue is complete and `lab/CASES.md` defines all of it.

use super::*;
use std::collections::HashSet;

const DEFINITIONS: &str = include_str!("../../CASES.md");

#[test]
fn names_are_unique_and_found() {
    let names: HashSet<&str> = CASES.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), CASES.len());
    for case in CASES {
        assert_eq!(find(case.name).map(|found| found.unit), Some(case.unit));
    }
    assert!(find("nothing").is_none());
}

#[test]
fn every_case_and_contender_is_defined() {
    for case in CASES {
        let heading = format!("### {}\n", case.name);
        assert!(DEFINITIONS.contains(&heading), "CASES.md does not define {}", case.name);
    }
    for contender in crate::contenders::ALL {
        let row = format!("| {} |", contender.name);
        assert!(DEFINITIONS.contains(&row), "CASES.md does not define {}", contender.name);
    }
}
