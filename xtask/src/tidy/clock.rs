//! Does anything read a clock or draw randomness on its own?
//!
//! Time and chance come from `raddle-base` alone: that is what makes virtual time and seeded runs
//! possible. Programs that measure, and tests, are free. raddle-base's own `Instant` has the name
//! of std's; which one is meant is told by the imports of the file.

use super::findings::Findings;
use super::source::{Kind, Source};
use super::uses::{self, Leaf};

const FREE: [&str; 6] = ["crates/raddle-base/", "lab/", "cli/", "tests/", "xtask/", "examples/"];
const SOURCES: [&str; 9] = [
    "getrandom",
    "RandomState",
    "fastrand",
    "thread_rng",
    "arc4random",
    "clock_gettime",
    "gettimeofday",
    "_rdtsc",
    "__rdtscp",
];
const DEVICES: [&str; 2] = ["/dev/urandom", "/dev/random"];

pub(crate) fn check(source: &Source<'_>, findings: &mut Findings) {
    if source.is_test() || FREE.iter().any(|free| source.path.starts_with(free)) {
        return;
    }
    let imports = uses::all(source);
    for (at, token) in source.tokens.iter().enumerate() {
        let random = match token.kind {
            Kind::Word => {
                SOURCES.contains(&token.text)
                    || (token.text == "rand" && source.followed_by(at, &[":", ":"]))
            }
            Kind::Literal => DEVICES.iter().any(|device| token.text.contains(device)),
            _ => false,
        };
        if random {
            let advice = format!(
                "`{}`: clocks and randomness come from raddle_base::clock and raddle_base::random",
                token.text
            );
            findings.add(source.path, token.line, "clock", advice);
        }
        let reads = matches!(token.text, "Instant" | "SystemTime")
            && source.followed_by(at, &[":", ":", "now"]);
        if token.kind == Kind::Word && reads && is_std(source, at, &imports) {
            let advice = format!(
                "`{}::now` of std: use raddle_base::clock, imported by its name",
                token.text
            );
            findings.add(source.path, token.line, "clock", advice);
        }
    }
}

/// Is the type named at `at` the one of std, as far as the path before it and the imports tell?
fn is_std(source: &Source<'_>, at: usize, imports: &[Leaf]) -> bool {
    let mut path = vec![source.tokens[at].text];
    let mut here = at;
    while here >= 3 && source.tokens[here - 1].is(":") && source.tokens[here - 2].is(":") {
        here -= 3;
        path.insert(0, source.tokens[here].text);
    }
    if path[0] == "std" || path[0] == "core" {
        return true;
    }
    let import = imports.iter().find(|leaf| leaf.name.as_deref() == Some(path[0]));
    match import {
        Some(leaf) => leaf.path[0] == "std" || leaf.path[0] == "core",
        // A bare name that no import explains may come from a glob: ask for the import.
        None => path.len() == 1,
    }
}
