//! `run`: everybody in every case, each sample a process of its own.
//!
//! Rounds go over all contenders of a case before they repeat, so that a drift of the machine meets
//! all alike. The order is shuffled in every round. For a judgement use `compare`.

use crate::cases::{CASES, Case};
use crate::contenders;
use crate::machine::Machine;
use crate::outcome::{Figures, Sample};
use crate::report::{self, Results, Row, Section};
use crate::stats::{self, Random};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

#[cfg(test)]
mod tests;

/// What `run` was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Cases by name; `*` and `?` stand for any characters.
    pub(crate) glob: String,
    pub(crate) smoke: bool,
    pub(crate) samples: usize,
    pub(crate) json: Option<PathBuf>,
    pub(crate) html: Option<PathBuf>,
}

/// The command `run`.
pub(crate) fn main(request: &Request) -> ExitCode {
    match run(request) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failures) => {
            eprintln!("{failures} failed");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run(request: &Request) -> Result<usize, String> {
    let chosen: Vec<&Case> =
        CASES.iter().filter(|case| matches(&request.glob, case.name)).collect();
    if chosen.is_empty() {
        return Err(format!("no case matches {}", request.glob));
    }
    let samples = if request.smoke { 1 } else { request.samples.max(1) };
    let steps: usize = chosen.iter().map(|case| takers(case).len() * samples).sum();
    let bar = ProgressBar::new(steps as u64);
    let style = ProgressStyle::with_template("{elapsed} {wide_bar} {pos}/{len} {msg}");
    bar.set_style(style.map_err(|error| error.to_string())?);
    let mut results =
        Results { machine: Machine::describe(), smoke: request.smoke, sections: Vec::new() };
    for case in chosen {
        results.sections.push(section(case, samples, request.smoke, &bar));
    }
    bar.finish_and_clear();
    println!("{}", report::table(&results));
    write(&results, request)?;
    Ok(results.failures())
}

fn write(results: &Results, request: &Request) -> Result<(), String> {
    if let Some(path) = &request.json {
        let text = serde_json::to_string_pretty(results).map_err(|error| error.to_string())?;
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    if let Some(path) = &request.html {
        let text = report::page(results)?;
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn takers(case: &Case) -> Vec<&'static str> {
    let all = contenders::ALL.iter().filter(|contender| contender.takes(case.name));
    all.map(|contender| contender.name).collect()
}

fn section(case: &Case, samples: usize, smoke: bool, bar: &ProgressBar) -> Section {
    let names = takers(case);
    let mut found: Vec<Vec<Sample>> = names.iter().map(|_| Vec::new()).collect();
    let mut random = Random::new(0x0D0E);
    for _ in 0..samples {
        for place in shuffled(names.len(), &mut random) {
            bar.set_message(format!("{} {}", case.name, names[place]));
            found[place].push(sample(case.name, names[place], smoke));
            bar.inc(1);
        }
    }
    Section {
        case: case.name.to_owned(),
        unit: case.unit.to_owned(),
        about: case.about.to_owned(),
        rows: found.iter().map(|samples| row(samples)).collect(),
    }
}

fn shuffled(n: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

/// The samples of one contender in one case as a row.
fn row(samples: &[Sample]) -> Row {
    let mut values: Vec<f64> = samples.iter().map(|sample| sample.value).collect();
    stats::sort(&mut values);
    let bad = samples.iter().find(|sample| !sample.is_ok());
    let mut figures = Figures::new();
    for name in samples.iter().flat_map(|sample| sample.figures.keys()) {
        let all: Vec<f64> = samples.iter().filter_map(|s| s.figure(Some(name))).collect();
        figures.insert(name.clone(), stats::median(&all).unwrap_or(0.0));
    }
    Row {
        contender: samples.first().map_or_else(String::new, |sample| sample.contender.clone()),
        median: stats::percentile(&values, 0.5).unwrap_or(0.0),
        min: values.first().copied().unwrap_or(0.0),
        max: values.last().copied().unwrap_or(0.0),
        samples: samples.len(),
        check: bad.map_or_else(|| "ok".to_owned(), |sample| sample.check.clone()),
        figures,
    }
}

/// One sample in a process of its own; what went wrong becomes its check.
pub(crate) fn sample(case: &str, contender: &str, smoke: bool) -> Sample {
    let unit = crate::cases::find(case).map_or("", |case| case.unit);
    ask(case, contender, smoke)
        .unwrap_or_else(|error| Sample::new(case, contender, unit, Err(error)))
}

fn ask(case: &str, contender: &str, smoke: bool) -> Result<Sample, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["one", case, contender]).stdin(Stdio::null());
    if smoke {
        command.arg("--smoke");
    }
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Some(line) = text.lines().last() else {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let last = complaint.lines().last().unwrap_or_default();
        return Err(format!("no result, {}: {last}", output.status));
    };
    serde_json::from_str(line).map_err(|error| format!("{error} in {line}"))
}

/// Does a pattern with `*` and `?` match a name?
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut chars = pattern.chars();
    match chars.next() {
        None => name.is_empty(),
        Some('*') => {
            let rest = chars.as_str();
            name.char_indices()
                .map(|(at, _)| at)
                .chain([name.len()])
                .any(|at| matches(rest, &name[at..]))
        }
        Some(wanted) => {
            let mut of_name = name.chars();
            let here = of_name.next();
            let same = here.is_some_and(|here| wanted == '?' || wanted == here);
            same && matches(chars.as_str(), of_name.as_str())
        }
    }
}
