//! Where may conditional compilation stand?
//!
//! Code that is compiled only sometimes is tested only sometimes. `test` is free everywhere. Other
//! conditions have addresses: the shim of raddle-base (`loom` and `shuttle` only there and in
//! tests), the twins (a folder with an enabled and a disabled file, and the file that picks one),
//! the file with the operations each processor must give, and the facade where it leaves out the
//! actors.

use super::findings::Findings;
use super::source::{Kind, Source, attributes};

const TWINS: [&str; 4] = ["trace", "tools", "hooks", "owner"];
const SHIM: &str = "crates/raddle-base/src/shim";
const SWITCH: &str = "crates/raddle-fiber/src/switch.rs";
const FACADE: &str = "crates/raddle/src/";

pub(crate) fn check(source: &Source<'_>, findings: &mut Findings) {
    if source.is_test() {
        return;
    }
    let mut predicates: Vec<(usize, usize)> = attributes(source)
        .filter(|(_, name, _)| matches!(*name, "cfg" | "cfg_attr"))
        .filter(|(at, _, _)| source.followed_by(*at, &["("]))
        .map(|(at, name, _)| (at + 1, end_of_predicate(source, at + 1, name)))
        .collect();
    for (at, token) in source.tokens.iter().enumerate() {
        let called = source.followed_by(at, &["!", "("]);
        if (token.is("cfg") || token.is("cfg_select")) && called {
            predicates.push((at + 2, source.tokens[at + 2].mate));
        }
    }
    for (open, end) in predicates {
        let atoms = atoms(source, open, end);
        for atom in &atoms {
            if !allowed(source.path, atom, &atoms) {
                let advice = format!(
                    "`cfg({atom})` has no place here: twins, shim or tests only (see STYLE.md)"
                );
                findings.add(source.path, source.tokens[open].line, "cfg", advice);
            }
        }
    }
}

/// The predicate of `cfg_attr` ends at its first comma, that of `cfg` with the bracket.
fn end_of_predicate(source: &Source<'_>, open: usize, name: &str) -> usize {
    let close = source.tokens[open].mate;
    if name == "cfg" {
        return close;
    }
    let mut here = open + 1;
    while here < close && !source.tokens[here].is(",") {
        let token = &source.tokens[here];
        here = if token.kind == Kind::Open { token.mate } else { here } + 1;
    }
    here
}

/// The conditions a predicate names, without the words that combine them.
fn atoms<'s>(source: &'s Source<'_>, open: usize, end: usize) -> Vec<&'s str> {
    source.tokens[open..end]
        .iter()
        .filter(|token| token.kind == Kind::Word)
        .map(|token| token.text)
        .filter(|word| !matches!(*word, "not" | "all" | "any"))
        .collect()
}

fn allowed(path: &str, atom: &str, together: &[&str]) -> bool {
    match atom {
        "test" | "doctest" => true,
        "loom" | "shuttle" => in_shim(path) || together.contains(&"test"),
        "target_arch" if path.starts_with(FACADE) => true,
        _ => in_shim(path) || is_twin(path) || path == SWITCH,
    }
}

fn in_shim(path: &str) -> bool {
    path.strip_prefix(SHIM).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// A file in the folder of a twin, or the file beside that folder which picks one.
fn is_twin(path: &str) -> bool {
    path.strip_suffix(".rs").unwrap_or(path).split('/').any(|part| TWINS.contains(&part))
}
