//! Does every use of `unsafe` have its argument beside it?
//!
//! An unsafe block or impl needs a comment that starts with SAFETY, directly above the statement
//! or item it stands in, or between that start and the keyword. An unsafe function or trait needs
//! a `# Safety` section in its documentation, except where a trait has stated it already.

use super::findings::Findings;
use super::source::{Kind, Source};

pub(crate) fn check(source: &Source<'_>, findings: &mut Findings) {
    for (at, token) in source.tokens.iter().enumerate() {
        if !token.is("unsafe") {
            continue;
        }
        let block = source.followed_by(at, &["{"]) || source.followed_by(at, &["impl"]);
        if block && !has_note(source, at) {
            let advice = "say above it, after `// SAFETY:`, which invariant makes it sound";
            findings.add(source.path, token.line, "safety-note", advice);
        }
        if declares(source, at) && !has_section(source, at) && !stated_elsewhere(source, at) {
            let advice = "document with a `# Safety` section what the caller must keep";
            findings.add(source.path, token.line, "safety-section", advice);
        }
    }
}

/// Is there a SAFETY comment with some text between the start of the statement and `at`?
fn has_note(source: &Source<'_>, at: usize) -> bool {
    let last = source.tokens[at].line;
    source.starts(at).into_iter().any(|start| {
        let mut first = source.tokens[start].line;
        while source.comments.iter().any(|comment| comment.line + 1 == first)
            && source.lines[first - 2].trim_start().starts_with("//")
        {
            first -= 1;
        }
        source.comments.iter().enumerate().any(|(n, comment)| {
            (first..=last).contains(&comment.line) && explains(source, n, comment.text)
        })
    })
}

/// Does comment `n` hold the word and something after it, there or on the next line?
fn explains(source: &Source<'_>, n: usize, text: &str) -> bool {
    let Some((_, rest)) = text.split_once("SAFETY:") else { return false };
    let next = source.comments.get(n + 1).map_or("", |comment| comment.text);
    rest.chars().any(char::is_alphanumeric) || next.chars().any(char::is_alphanumeric)
}

/// Is this the `unsafe` of a function with a name, or of a trait?
fn declares(source: &Source<'_>, at: usize) -> bool {
    let mut here = at + 1;
    while let Some(token) = source.tokens.get(here) {
        let named = source.tokens.get(here + 1).is_some_and(|next| next.kind == Kind::Word);
        match token.text {
            "fn" | "trait" => return named,
            "extern" | "async" => here += 1,
            _ if token.kind == Kind::Literal => here += 1,
            _ => return false,
        }
    }
    false
}

fn has_section(source: &Source<'_>, at: usize) -> bool {
    let start = source.starts(at).pop().unwrap_or(at);
    source.tokens[start..at]
        .iter()
        .any(|token| token.kind == Kind::Doc && token.text.contains("# Safety"))
}

/// Does the function stand in an impl of a trait or in a block of foreign functions?
fn stated_elsewhere(source: &Source<'_>, at: usize) -> bool {
    let Some(open) = source.enclosing(at) else { return false };
    let start = source.starts(open).pop().unwrap_or(open);
    let head = &source.tokens[start..open];
    let foreign = head.iter().any(|token| token.is("extern"))
        && !head.iter().any(|token| token.is("fn") || token.is("impl"));
    let of_trait = head
        .iter()
        .enumerate()
        .any(|(n, token)| token.is("for") && !head.get(n + 1).is_some_and(|next| next.is("<")))
        && head.iter().any(|token| token.is("impl"));
    foreign || of_trait
}
