//! Does the project name things that only exist outside it?
//!
//! A clone must make sense on any machine: no absolute path of the machine it was written on, no
//! mirror of a registry, no document that is not part of the tree. The words are put together from
//! pieces here, so that this file may be checked as well.

use super::findings::Findings;
use super::source::{Kind, Source};
use super::tree::Tree;

/// Folders of one machine. They count only where a path begins.
const MACHINE: [&str; 5] = [
    concat!("/wo", "rk/"),
    concat!("/fa", "rm/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
];
/// Words that point at documents outside the tree.
const DOCUMENTS: [&str; 4] = [
    concat!("../sha", "red"),
    concat!("design", ".md"),
    concat!("design", " section"),
    concat!("style", ".md section"),
];
/// Hosts and settings of registries. The lock file has a rule of its own.
const REGISTRIES: [&str; 5] = [
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("artif", "actory"),
    concat!("replace", "-with"),
    concat!("[reg", "istries"),
];
const LOCK_SOURCE: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

pub(crate) fn check(tree: &Tree, sources: &[Source<'_>], findings: &mut Findings) {
    for file in &tree.files {
        for (n, line) in file.text.lines().enumerate() {
            if file.path.ends_with("Cargo.lock") {
                if line.starts_with("source = ") && line != LOCK_SOURCE {
                    let advice = "packages come from the public registry only";
                    findings.add(&file.path, n + 1, "outside", advice);
                }
                continue;
            }
            if let Some(word) = word(line) {
                let advice = format!("`{word}` means nothing in a clone: name what is in the tree");
                findings.add(&file.path, n + 1, "outside", advice);
            }
        }
        if file.path.ends_with(".md") {
            let lines = file.text.lines().enumerate().map(|(n, text)| (n + 1, text));
            numbers(&file.path, lines, findings);
        }
    }
    for source in sources {
        let docs = source.tokens.iter().filter(|token| token.kind == Kind::Doc);
        let docs =
            docs.flat_map(|doc| doc.text.lines().enumerate().map(|(n, text)| (doc.line + n, text)));
        let comments = source.comments.iter().map(|comment| (comment.line, comment.text));
        numbers(source.path, docs.chain(comments), findings);
    }
}

fn word(line: &str) -> Option<&'static str> {
    let machine = MACHINE.iter().find(|word| {
        line.match_indices(*word).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || "./_-$})*>".contains(c))
        })
    });
    let plain = DOCUMENTS.iter().chain(&REGISTRIES).find(|word| line.contains(**word));
    machine.or(plain).copied()
}

/// Numbers such as F and two digits refer to lists that are not part of the tree.
fn numbers<'t>(path: &str, lines: impl Iterator<Item = (usize, &'t str)>, findings: &mut Findings) {
    for (line, text) in lines {
        let prose: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        let mut words = prose.split(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(word) = words.find(|word| is_reference(word)) {
            let advice = format!("{word} refers to a list outside the tree: say what is meant");
            findings.add(path, line, "outside", advice);
        }
    }
}

fn is_reference(word: &str) -> bool {
    let number = |rest: &str| rest.parse::<u32>().ok();
    match word.split_at_checked(1) {
        Some(("F", rest)) => number(rest).is_some_and(|n| (1..=60).contains(&n)),
        Some(("P", rest)) => number(rest).is_some_and(|n| (1..=7).contains(&n)),
        _ => false,
    }
}
