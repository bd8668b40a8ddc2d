//! Does a file say on its first line what it is about?
//!
//! The header is the run of `//!` lines that starts on line 1. Its first paragraph must be a
//! sentence: some words and an end. Whether it is a good one is left to the reader.

use super::findings::Findings;
use super::source::Source;

const WORDS: usize = 5;

pub(crate) fn check(source: &Source<'_>, findings: &mut Findings) {
    let header: Vec<&str> =
        source.lines.iter().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
    if header.is_empty() {
        let advice = "start line 1 with a `//!` header that says what the file is about";
        findings.add(source.path, 1, "header", advice);
        return;
    }
    let words: usize = header.iter().map(|line| line.split_whitespace().count()).sum();
    let paragraph: Vec<&str> = header.iter().copied().take_while(|line| !line.is_empty()).collect();
    let ended = paragraph.last().is_some_and(|line| line.ends_with(['.', '?', ':', '!']));
    if words < WORDS || !ended {
        let advice = format!(
            "the header must explain: a first paragraph that is a sentence, {WORDS} words or more"
        );
        findings.add(source.path, 1, "header", advice);
    }
}
