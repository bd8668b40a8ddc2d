//! Samples for each rule, one it must pass and one it must refuse, and the real tree.

mod crates;
mod cycles;
mod documents;
mod safety;
mod text;
mod words;

use super::tree::Tree;

/// What tidy says about one file of Rust in a crate that may do nothing special: rule and line.
/// The header is added, so the text starts on line 2.
fn findings(text: &str) -> Vec<(&'static str, usize)> {
    findings_at("crates/raddle-net/src/lib.rs", text)
}

/// The same for a file of this path.
fn findings_at(path: &str, text: &str) -> Vec<(&'static str, usize)> {
    let text = format!("//! A sample that says what it is for.\n{text}");
    tree_findings(&[(path, &text)])
}

/// The same for a whole tree, without adding anything.
fn tree_findings(files: &[(&str, &str)]) -> Vec<(&'static str, usize)> {
    let found = super::check_tree(&Tree::of(files));
    found.into_iter().map(|finding| (finding.rule, finding.line)).collect()
}

#[test]
fn the_real_tree_is_clean() {
    let found = super::check(&crate::root()).expect("the tree can be read");
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "tidy has to say:\n{}", lines.join("\n"));
}

#[test]
fn a_finding_reads_as_path_line_rule_advice() {
    let found = super::check_tree(&Tree::of(&[("xtask/src/a.rs", "fn main() {}\n")]));
    let text = found[0].to_string();
    assert!(text.starts_with("xtask/src/a.rs:1: header: start line 1"), "{text}");
}

#[test]
fn what_cannot_be_parsed_is_a_finding() {
    assert_eq!(findings("fn f( {}\n"), [("syntax", 2)]);
    assert_eq!(findings("fn f() { let }\n"), [("syntax", 2)]);
}
