//! Does the list of weakenings still fit the code?
//!
//! An entry whose text has gone would be noticed only when somebody runs the whole list.

use super::findings::Findings;
use super::tree::Tree;
use crate::weaken::{LIST, parse, problem};

pub(crate) fn check(tree: &Tree, findings: &mut Findings) {
    match parse(tree.text(LIST).unwrap_or_default()) {
        Ok(entries) => {
            for entry in entries {
                if let Some(problem) = problem(&entry, tree.text(&entry.file)) {
                    findings.add(LIST, entry.line, "weaken", problem);
                }
            }
        }
        Err((line, error)) => findings.add(LIST, line, "weaken", error),
    }
}
