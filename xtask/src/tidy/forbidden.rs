//! Which words and attributes may not stand in the source at all?
//!
//! `allow` (only `expect` with a reason ends when its cause ends), `pub(in …)`, marks of work left
//! undone, and printing macros meant for a debugging session.

use super::findings::Findings;
use super::source::{Kind, Source};

const MARKS: [&str; 3] = ["FIXME", "TODO", "XXX"];
const MACROS: [&str; 3] = ["dbg", "todo", "unimplemented"];

pub(crate) fn check(source: &Source<'_>, findings: &mut Findings) {
    attributes(source, findings);
    for (at, token) in source.tokens.iter().enumerate() {
        if token.is("pub") && source.followed_by(at, &["(", "in"]) {
            let advice = "use private, `pub(crate)` or `pub`; no path in a visibility";
            findings.add(source.path, token.line, "pub-in", advice);
        }
        if token.kind == Kind::Word
            && MACROS.contains(&token.text)
            && source.followed_by(at, &["!"])
            && !source.followed_by(at, &["!", "="])
        {
            let advice = format!("remove `{}!`", token.text);
            findings.add(source.path, token.line, "left-open", advice);
        }
    }
    let docs = source.tokens.iter().filter(|token| token.kind == Kind::Doc);
    let prose = docs
        .flat_map(|doc| doc.text.lines().enumerate().map(|(n, text)| (doc.line + n, text)))
        .chain(source.comments.iter().map(|comment| (comment.line, comment.text)));
    for (line, text) in prose {
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(mark) = words.find(|word| MARKS.contains(word)) {
            let advice = format!("finish it or file an issue; no `{mark}` in the tree");
            findings.add(source.path, line, "left-open", advice);
        }
    }
}

fn attributes(source: &Source<'_>, findings: &mut Findings) {
    for (at, name, end) in super::source::attributes(source) {
        let line = source.tokens[at].line;
        for inner in at..end {
            let token = &source.tokens[inner];
            let direct = inner == at || name == "cfg_attr";
            if !direct || !source.followed_by(inner, &["("]) {
                continue;
            }
            if token.is("allow") {
                let advice = "use `#[expect(lint, reason = \"…\")]`, which ends with its cause";
                findings.add(source.path, line, "allow", advice);
            }
            let reason = || {
                let close = source.tokens[inner + 1].mate;
                (inner..close)
                    .any(|n| source.tokens[n].is("reason") && source.followed_by(n, &["="]))
            };
            if token.is("expect") && !reason() {
                let advice = "give the reason: `#[expect(lint, reason = \"…\")]`";
                findings.add(source.path, line, "expect-reason", advice);
            }
        }
    }
}
