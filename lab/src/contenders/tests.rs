//! The table is consistent with the catalogue.

use super::*;
use crate::cases;

#[test]
fn entries_name_known_cases_once() {
    for contender in ALL {
        let mut names: Vec<&str> =
            (contender.entries)().iter().chain(&(contender.memory)()).map(|e| e.case).collect();
        for name in &names {
            assert!(cases::find(name).is_some(), "{}: {name}", contender.name);
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{} takes part twice", contender.name);
    }
}

#[test]
fn contenders_are_found_by_name() {
    for contender in ALL {
        assert_eq!(find(contender.name).map(|found| found.name), Some(contender.name));
    }
    assert!(find("nobody").is_none());
}
