//! `cargo xtask model --weaken`: are the models able to fail?
//!
//! A model that stays green whatever is done to the code proves nothing. Each entry of
//! `xtask/weaken.txt` takes one thing away from the code in a copy of the tree (a weaker ordering,
//! a missing second look) and names the model that has to go red.

mod list;
mod sandbox;
#[cfg(test)]
mod tests;

pub(crate) use list::{Entry, Expect, parse, problem};

use crate::command;
use crate::model;
use std::path::Path;
use std::time::Duration;

/// The list, relative to the project.
pub(crate) const LIST: &str = "xtask/weaken.txt";
const LIMIT: Duration = Duration::from_secs(600);

/// How one entry went.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Red,
    Unseen(String),
    Wrong(String),
}

/// Applies the entries whose file contains one of `parts` (a crate, a folder), or all there are.
/// `Ok(true)`: every model noticed.
pub(crate) fn run(root: &Path, parts: &[&str]) -> Result<bool, String> {
    let text = std::fs::read_to_string(root.join(LIST)).map_err(|e| format!("{LIST}: {e}"))?;
    let entries = parse(&text).map_err(|(line, error)| format!("{LIST}:{line}: {error}"))?;
    let copy = sandbox::Sandbox::make(root)?;
    let mut wrong = 0;
    let mut done = 0;
    let chosen = |file: &str| parts.is_empty() || parts.iter().any(|part| file.contains(part));
    for entry in entries.iter().filter(|entry| chosen(&entry.file)) {
        let verdict = apply(&copy, entry)?;
        let place = format!("{LIST}:{}: {}", entry.line, entry.file);
        match &verdict {
            Verdict::Red => println!("red     {place}"),
            Verdict::Unseen(why) => println!("unseen  {place}: {why}"),
            Verdict::Wrong(why) => println!("WRONG   {place}: {why}"),
        }
        wrong += usize::from(matches!(verdict, Verdict::Wrong(_)));
        done += 1;
    }
    println!("weaken: {done} entries, {wrong} wrong");
    Ok(wrong == 0 && done > 0)
}

fn apply(copy: &sandbox::Sandbox, entry: &Entry) -> Result<Verdict, String> {
    let original = copy.read(&entry.file)?;
    if let Some(problem) = problem(entry, Some(&original)) {
        return Ok(Verdict::Wrong(problem));
    }
    let test = match &entry.expect {
        Expect::Unseen(why) => return Ok(Verdict::Unseen(why.clone())),
        Expect::Red(test) => test,
    };
    copy.write(&entry.file, &original.replacen(&entry.find, &entry.with, 1))?;
    let mut command = model::cargo(copy.root(), copy.target());
    command.args(["--quiet", "--package", entry.package(), "--", test]).stderr(copy.log()?);
    let mut started = false;
    let outcome = command::watched(&mut command, LIMIT, |line| started |= starts(line));
    copy.write(&entry.file, &original)?;
    let verdict = judge(&outcome?, started, test);
    if matches!(verdict, Verdict::Wrong(_)) {
        println!("{}", copy.logged());
    }
    Ok(verdict)
}

/// Is this the line with which a test program starts its tests, if there are any?
fn starts(line: &str) -> bool {
    line.starts_with("running ") && !line.starts_with("running 0 ")
}

fn judge(outcome: &command::Outcome, started: bool, test: &str) -> Verdict {
    if outcome.timed_out {
        return Verdict::Wrong(format!("{test} did not end; it should fail"));
    }
    // A model may also go red by an abort: loom panics inside destructors.
    if outcome.counts.failed > 0 || (started && !outcome.success) {
        return Verdict::Red;
    }
    Verdict::Wrong(match (outcome.success, outcome.counts.passed) {
        (true, 0) => format!("no test is called {test}"),
        (true, _) => format!("{test} stays green"),
        (false, _) => "the weakened code does not compile".to_owned(),
    })
}
