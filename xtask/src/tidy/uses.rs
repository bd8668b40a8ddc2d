//! What names does a `use` bring in, and from where?
//!
//! A use tree is opened into its leaves, each with the whole path it stands for. The same reader
//! serves declarations at the top of a module and those inside functions.

use super::source::{Kind, Source};

/// One name brought in. A glob has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) path: Vec<String>,
    pub(crate) name: Option<String>,
    pub(crate) line: usize,
    pub(crate) public: bool,
}

/// The leaves of the tree whose first token is `at`; stops at the end of that tree.
pub(crate) fn leaves(source: &Source<'_>, at: usize, public: bool) -> Vec<Leaf> {
    let mut found = Vec::new();
    tree(source, at, &[], public, &mut found);
    found
}

/// The leaves of every `use` in the file, wherever it stands.
pub(crate) fn all(source: &Source<'_>) -> Vec<Leaf> {
    let words = source.tokens.iter().enumerate().filter(|(_, token)| token.is("use"));
    words.flat_map(|(at, _)| leaves(source, at + 1, false)).collect()
}

/// Reads one tree and returns the index after it.
fn tree(
    source: &Source<'_>,
    at: usize,
    prefix: &[String],
    public: bool,
    found: &mut Vec<Leaf>,
) -> usize {
    let mut path = prefix.to_vec();
    let mut here = at;
    while let Some(token) = source.tokens.get(here) {
        match (token.kind, token.text) {
            (Kind::Punct, ":" | "$") => here += 1,
            (Kind::Word, "as") => break,
            (Kind::Word, word) => {
                path.push(word.to_owned());
                here += 1;
            }
            (Kind::Punct, "*") => {
                found.push(Leaf { path, name: None, line: token.line, public });
                return here + 1;
            }
            (Kind::Open, "{") => {
                group(source, here, &path, public, found);
                return token.mate + 1;
            }
            _ => break,
        }
    }
    let line = source.tokens[here.min(source.tokens.len() - 1)].line;
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let mut name = path.last().cloned();
    if source.tokens.get(here).is_some_and(|token| token.is("as")) {
        name = source.tokens.get(here + 1).map(|token| token.text.to_owned());
        here += 2;
    }
    if !path.is_empty() {
        found.push(Leaf { path, name, line, public });
    }
    here
}

fn group(source: &Source<'_>, open: usize, prefix: &[String], public: bool, found: &mut Vec<Leaf>) {
    let close = source.tokens[open].mate;
    let mut here = open + 1;
    while here < close {
        here = if source.tokens[here].is(",") {
            here + 1
        } else {
            tree(source, here, prefix, public, found).max(here + 1)
        };
    }
}
