//! `cargo xtask tidy`: the rules of STYLE.md that a tool can check, over the whole tree.
//!
//! Every rule is one file beside this one and answers one question about a source file, the set of
//! files, or what cargo says about the packages. A finding is `path:line: rule: what to do`.

mod cfgs;
mod clock;
mod cycles;
mod edges;
mod findings;
mod forbidden;
mod header;
mod licences;
mod modules;
mod nesting;
mod outside;
mod paths;
mod safety;
mod size;
mod source;
mod spdx;
#[cfg(test)]
mod tests;
mod tree;
mod uses;
mod weakenings;

use findings::{Finding, Findings};
use source::Source;
use std::path::Path;
use tree::Tree;

/// Checks the project in `root` and prints what is wrong. `Ok(true)` means clean.
pub(crate) fn run(root: &Path) -> Result<bool, String> {
    let findings = check(root)?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("tidy: clean"),
        n => println!("tidy: {n} to mend; STYLE.md gives the reasons"),
    }
    Ok(findings.is_empty())
}

/// Everything that is wrong with the project in `root`, sorted.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let tree = Tree::read(root)?;
    let mut findings = check_tree(&tree);
    let mut more = Findings::default();
    for metadata in edges::workspaces(root, &tree)? {
        edges::check(&root.to_string_lossy(), &tree, &metadata, &mut more);
        licences::check(&metadata, &mut more);
    }
    findings.extend(more.list);
    findings.sort();
    findings.dedup();
    Ok(findings)
}

/// The rules that need nothing but the text of the files.
pub(crate) fn check_tree(tree: &Tree) -> Vec<Finding> {
    let mut findings = Findings::default();
    let mut sources = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".rs")) {
        match Source::parse(&file.path, &file.text) {
            Ok(source) => sources.push(source),
            Err((line, error)) => findings.add(&file.path, line, "syntax", error),
        }
    }
    for source in &sources {
        check_source(source, &mut findings);
    }
    cycles::check(tree, &sources, &mut findings);
    paths::check(tree, &sources, &mut findings);
    outside::check(tree, &sources, &mut findings);
    weakenings::check(tree, &mut findings);
    let mut list = findings.list;
    list.sort();
    list
}

/// The rules that look at one file of Rust.
fn check_source(source: &Source<'_>, findings: &mut Findings) {
    size::check(source, findings);
    nesting::check(source, findings);
    header::check(source, findings);
    safety::check(source, findings);
    forbidden::check(source, findings);
    cfgs::check(source, findings);
    clock::check(source, findings);
}
