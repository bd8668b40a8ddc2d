//! How long may things be: files, functions and lines.
//!
//! The limits only ever go down. A function is measured from `fn` to its closing brace, so that
//! documentation and attributes cost nothing there; documentation does count for the file.

use super::findings::Findings;
use super::source::{Kind, Source};

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 60;
const COLUMNS: usize = 100;

pub(crate) fn check(source: &Source<'_>, findings: &mut Findings) {
    if source.lines.len() > FILE_LINES {
        let advice = format!(
            "{} lines, at most {FILE_LINES}: move a concept into a file of its own",
            source.lines.len()
        );
        findings.add(source.path, FILE_LINES + 1, "file-length", advice);
    }
    for (n, line) in source.lines.iter().enumerate() {
        let columns = line.chars().count();
        // An address cannot be broken.
        let address = line.trim_start().starts_with("//") && line.contains("://");
        if columns > COLUMNS && !address {
            let advice = format!("{columns} columns, at most {COLUMNS}: break the line");
            findings.add(source.path, n + 1, "line-length", advice);
        }
    }
    for (name, first, last) in functions(source) {
        let lines = last - first + 1;
        if lines > FUNCTION_LINES {
            let advice = format!(
                "function {name} has {lines} lines, at most {FUNCTION_LINES}: split it by state"
            );
            findings.add(source.path, first, "function-length", advice);
        }
    }
}

/// Name, first and last line of each function with a body, in macros too.
fn functions<'t>(source: &Source<'t>) -> Vec<(&'t str, usize, usize)> {
    let tokens = &source.tokens;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Some(name) = tokens.get(at + 1).filter(|name| name.kind == Kind::Word) else {
            continue;
        };
        if token.is("fn")
            && let Some(body) = body(source, at + 2)
        {
            found.push((name.text, token.line, tokens[tokens[body].mate].line));
        }
    }
    found
}

/// The opening brace of the body of the function whose signature goes on at `at`.
fn body(source: &Source<'_>, at: usize) -> Option<usize> {
    let mut here = at;
    while let Some(token) = source.tokens.get(here) {
        match (token.kind, token.text) {
            (Kind::Open, "{") if !source.followed_by(token.mate, &[">"]) => return Some(here),
            (Kind::Open, _) => here = token.mate,
            (Kind::Close, _) | (Kind::Punct, ";") => return None,
            _ => {}
        }
        here += 1;
    }
    None
}
