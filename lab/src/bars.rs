//! `bars`: every bar that raddle has to reach, measured one after the other.
//!
//! A relative bar is a comparison that looks until it is decided; it is met when the upper bound of
//! the interval is at or below the limit. An absolute bar is one sample's figure. What comes out is
//! a table in Markdown with ratio, interval and verdict, each line with its command.

use crate::compare::{self, Request, Stop};
use crate::machine::Machine;
use crate::outcome::Sample;
use crate::run;
use crate::stats::RESAMPLES;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

#[cfg(test)]
mod tests;

/// Case, contender, peer, and the most that the ratio may be.
type Relative = (&'static str, &'static str, &'static str, f64);

static RELATIVE: &[Relative] = &[
    ("yield_many", "raddle", "tokio-current", 0.25),
    ("yield_many", "raddle", "smol", 0.25),
    ("spawn_batch", "raddle", "tokio-current", 0.35),
    ("spawn_batch", "raddle", "smol", 0.9),
    ("chained_spawn", "raddle", "tokio-current", 0.45),
    ("ping_pong_oneshot", "raddle", "tokio-current", 0.45),
    ("many_timers", "raddle", "tokio-current", 0.7),
    ("echo_64", "raddle", "tokio-current", 0.98),
    ("echo_64", "raddle", "monoio", 1.0),
    ("echo_64", "raddle", "raw-epoll", 1.03),
    ("echo_64", "raddle-epoll", "tokio-current", 1.03),
    ("echo_1000", "raddle", "tokio-current", 0.98),
    ("echo_1000", "raddle", "monoio", 1.0),
    ("echo_1000", "raddle", "raw-epoll", 1.03),
    ("echo_1000", "raddle-epoll", "tokio-current", 1.03),
    ("echo_1", "raddle", "tokio-current", 1.05),
    ("echo_1", "raddle", "monoio", 1.05),
    ("echo_1", "raddle", "raw-epoll", 1.05),
    ("http_hello", "raddle", "tokio-current", 1.0),
];

/// Case, contender, figure, and the most that it may be.
type Absolute = (&'static str, &'static str, &'static str, f64);

static ABSOLUTE: &[Absolute] = &[
    ("mem_task", "raddle", "value", 192.0),
    ("idle_wakeups", "raddle", "value", 0.0),
    ("idle_wakeups", "raddle-epoll", "value", 0.0),
    ("timer_lateness", "raddle", "late_100us_p50", 100.0),
    ("timer_lateness", "raddle-epoll", "late_100us_p50", 100.0),
];

/// The command `bars`: the table on standard output, and in a file if one is named.
pub(crate) fn main(glob: &str, smoke: bool, file: Option<&Path>) -> ExitCode {
    let machine = Machine::describe();
    let mut text = format!(
        "{} ({} cores), Linux {}, {}, commit {}, load average {}\n\n\
         | case | raddle | peer | ratio or figure | 95 % interval | pairs | bar | met |\n\
         |---|---|---|---|---|---|---|---|\n",
        machine.cpu, machine.cores, machine.kernel, machine.rustc, machine.commit, machine.load
    );
    print!("{text}");
    let chosen = |case: &str| run::matches(glob, case);
    let relative = RELATIVE.iter().filter(|bar| chosen(bar.0)).map(|bar| judged(bar, smoke));
    let absolute = ABSOLUTE.iter().filter(|bar| chosen(bar.0)).map(|bar| measured(bar, smoke));
    for line in relative.chain(absolute) {
        println!("{line}");
        text += &(line + "\n");
    }
    match file.map(|path| (path, fs::write(path, text))) {
        Some((path, Err(error))) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

fn verdict(met: bool) -> &'static str {
    if met { "yes" } else { "**no**" }
}

/// One relative bar as a line of the table.
fn judged(&(case, a, b, limit): &Relative, smoke: bool) -> String {
    let request = Request {
        case: case.to_owned(),
        a: a.to_owned(),
        b: b.to_owned(),
        figure: None,
        higher: false,
        stop: if smoke { Stop::Pairs(2) } else { Stop::Until(limit) },
        seed: 1,
        resamples: RESAMPLES,
        smoke,
        json: None,
    };
    let mut sampler = |case: &str, contender: &str| run::sample(case, contender, smoke);
    match compare::compare(&request, &mut sampler) {
        Ok(found) => format!(
            "| {case} | {a} | {b} | {:.3} | {:.3} to {:.3} | {} | ≤ {limit} | {} |",
            found.ratio,
            found.ci_low,
            found.ci_high,
            found.pairs,
            verdict(found.ci_high <= limit)
        ),
        Err(error) => format!("| {case} | {a} | {b} | {error} | | | ≤ {limit} | **no** |"),
    }
}

/// One absolute bar as a line of the table.
fn measured(&(case, contender, figure, limit): &Absolute, smoke: bool) -> String {
    let sample = run::sample(case, contender, smoke);
    let (found, met) = absolute(&sample, figure, limit);
    format!("| {case} {figure} | {contender} | | {found} | | | ≤ {limit} | {} |", verdict(met))
}

/// What a sample says of an absolute bar; a mismatch or a missing figure does not meet it.
fn absolute(sample: &Sample, figure: &str, limit: f64) -> (String, bool) {
    match sample.figure(Some(figure)) {
        _ if !sample.is_ok() => (sample.check.clone(), false),
        Some(value) => (format!("{value:.1} {}", sample.unit), value <= limit),
        None => ("no such figure".to_owned(), false),
    }
}
