//! Do the paths exist that headers and documents name?
//!
//! Looked at are words in backticks, in the `//!` headers of Rust files and in Markdown outside
//! fenced blocks, and the targets of Markdown links. A word is taken for a path of this project if
//! it ends like a source file or a folder, or begins with a folder at the top of the tree. It may
//! be relative to the file that names it, to the folder of its module, to its package, or to the
//! top.

use super::findings::Findings;
use super::source::Source;
use super::tree::{Tree, parent};

const NAMES: [&str; 3] = [".rs", ".md", ".toml"];
/// Files that every package has: a guide for users may mean theirs.
const COMMON: [&str; 5] = ["src/main.rs", "src/lib.rs", "main.rs", "lib.rs", "Cargo.toml"];
const MORE: [&str; 3] = [".sh", ".txt", ".json"];

pub(crate) fn check(tree: &Tree, sources: &[Source<'_>], findings: &mut Findings) {
    for source in sources {
        let header = source.lines.iter().enumerate().filter_map(|(n, line)| {
            line.trim_start().strip_prefix("//!").map(|text| (n + 1, text))
        });
        prose(tree, source.path, header, findings);
    }
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        let lines = file.text.lines().enumerate().map(|(n, text)| (n + 1, text));
        prose(tree, &file.path, lines, findings);
    }
}

fn prose<'t>(
    tree: &Tree,
    path: &str,
    lines: impl Iterator<Item = (usize, &'t str)>,
    findings: &mut Findings,
) {
    let mut fenced = false;
    for (line, text) in lines {
        if text.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        let quoted = text.split('`').skip(1).step_by(2).filter(|word| is_path(tree, word));
        for word in quoted.chain(links(text)) {
            if !exists(tree, path, strip(word)) {
                let advice = format!("`{word}` does not exist: correct the path or the sentence");
                findings.add(path, line, "doc-path", advice);
            }
        }
    }
}

/// The targets of Markdown links that point into the tree.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| {
        let target = rest.split(')').next()?.split('#').next()?;
        let local = !target.contains("::") && !target.contains(':') && target.contains(['/', '.']);
        (local && !target.contains(char::is_whitespace)).then_some(target)
    })
}

fn is_path(tree: &Tree, word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:".contains(c);
    if word.is_empty() || !word.chars().all(plain) || word.contains("::") {
        return false;
    }
    let word = strip(word);
    if COMMON.contains(&word) {
        return false;
    }
    if word.starts_with('/') || word.contains("//") || word.starts_with("target/") {
        return false;
    }
    let named =
        |ends: &[&str]| ends.iter().any(|end| word.len() > end.len() && word.ends_with(end));
    let Some((top, rest)) = word.split_once('/') else { return named(&NAMES) };
    named(&NAMES) || named(&MORE) || rest.is_empty() || top == "." || top == ".." || {
        // `lab/x` is ours; `text/html` is not.
        tree.exists(top) && !top.contains('.') || top == ".ci" || top == ".config"
    }
}

/// Without a line number at its end.
fn strip(word: &str) -> &str {
    word.split(':').next().unwrap_or(word)
}

fn exists(tree: &Tree, from: &str, word: &str) -> bool {
    let here = parent(from);
    let module = from.strip_suffix(".rs").unwrap_or(here);
    let package = tree.package_of(from).unwrap_or_default();
    let src = format!("{package}/src");
    [here, module, package, &src, ""].iter().any(|base| tree.exists(&join(base, word)))
}

/// Joins and resolves the dots.
fn join(base: &str, word: &str) -> String {
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in word.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
