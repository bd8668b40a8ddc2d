//! `compare`: the ratio of two contenders in one case, with its 95 % interval.
//!
//! Samples are processes in blocks of two pairs, ABBA or BAAB by a seeded coin, so that each order
//! of a pair comes equally often and a drift within a block cancels. With `--until LIMIT` blocks of
//! thirty pairs follow one another until the whole interval lies on one side of the limit, or 300
//! pairs are done; every look is printed, since looking often makes an interval optimistic.

use crate::contenders;
use crate::outcome::Sample;
use crate::run;
use crate::stats::{self, Estimate, First, Pair, Random};
use serde::Serialize;
use std::cmp::Ordering;
use std::fs;
use std::process::ExitCode;

#[cfg(test)]
mod tests;

/// Fewer pairs have no interval: a resample of two is nearly always one of the two.
const LEAST: usize = 6;
/// Pairs of a look with `--until`, and the most that are made.
const LOOK: usize = 30;
const MOST: usize = 300;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    /// After so many pairs.
    Pairs(usize),
    /// When the interval lies on one side of this ratio.
    Until(f64),
}

/// What `compare` was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) case: String,
    pub(crate) a: String,
    pub(crate) b: String,
    /// The case that B runs, if it is not the same.
    pub(crate) b_case: Option<String>,
    /// A figure by name; the value if none.
    pub(crate) figure: Option<String>,
    /// More is better: the ratio is of B to A.
    pub(crate) higher: bool,
    pub(crate) stop: Stop,
    pub(crate) seed: u64,
    pub(crate) resamples: usize,
    pub(crate) smoke: bool,
    /// A file, or `-` for standard output.
    pub(crate) json: Option<String>,
}

impl Request {
    fn case_of_b(&self) -> &str {
        self.b_case.as_ref().unwrap_or(&self.case)
    }
}

/// The JSON object.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Comparison {
    case: String,
    a: String,
    b: String,
    b_case: Option<String>,
    figure: String,
    higher: bool,
    pub(crate) pairs: usize,
    pub(crate) ratio: f64,
    pub(crate) ci_low: f64,
    pub(crate) ci_high: f64,
    a_median: f64,
    b_median: f64,
    /// The limit of `--until`, and `below`, `above` or `undecided`.
    limit: Option<f64>,
    side: Option<&'static str>,
}

/// The command `compare`.
pub(crate) fn main(request: &Request) -> ExitCode {
    match compare(request, &mut |case, contender| run::sample(case, contender, request.smoke)) {
        Ok(found) => match print(request, &found) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&error),
        },
        Err(error) => failed(&error),
    }
}

fn failed(error: &str) -> ExitCode {
    eprintln!("{error}");
    ExitCode::FAILURE
}

fn print(request: &Request, found: &Comparison) -> Result<(), String> {
    let text = serde_json::to_string(found).map_err(|error| error.to_string())?;
    match request.json.as_deref() {
        Some("-") => {
            println!("{text}");
            return Ok(());
        }
        Some(path) => fs::write(path, text + "\n").map_err(|error| format!("{path}: {error}"))?,
        None => {}
    }
    let Comparison { case, a, b, figure, ratio, ci_low, ci_high, pairs, .. } = found;
    let interval = match *pairs {
        LEAST.. => format!("95 % interval {ci_low:.4} to {ci_high:.4}"),
        _ => "no interval".to_owned(),
    };
    let place = found.b_case.as_ref().map(|case| format!(" in {case}")).unwrap_or_default();
    let (of_a, of_b) = (found.a_median, found.b_median);
    println!(
        "{case}: {a} / {b}{place} ({figure}) = {ratio:.4}, {interval}, {pairs} pairs, \
         medians {of_a} and {of_b}"
    );
    if let (Some(limit), Some(side)) = (found.limit, found.side) {
        println!("limit {limit}: {side}");
    }
    Ok(())
}

/// The pairs made so far.
#[derive(Default)]
struct Pairs {
    pairs: Vec<Pair>,
    a: Vec<f64>,
    b: Vec<f64>,
}

/// How a sample is made: by a process, or by a test.
pub(crate) type Sampler<'a> = &'a mut dyn FnMut(&str, &str) -> Sample;

/// Makes pairs until the request says stop.
pub(crate) fn compare(request: &Request, sampler: Sampler<'_>) -> Result<Comparison, String> {
    check_names(request)?;
    let mut random = Random::new(request.seed);
    let mut made = Pairs::default();
    loop {
        let wanted = match request.stop {
            // A smoke run is for termination.
            Stop::Pairs(pairs) if request.smoke => pairs.max(2).next_multiple_of(2),
            Stop::Pairs(pairs) => pairs.max(LEAST).next_multiple_of(2),
            Stop::Until(_) => made.pairs.len() + LOOK,
        };
        while made.pairs.len() < wanted {
            block(request, sampler, random.next().is_multiple_of(2), &mut made)?;
        }
        let estimate = stats::estimate(&made.pairs, request.resamples, request.seed ^ 0xB007)
            .ok_or("no pairs were made")?;
        if let Some(found) = decide(request, &made, &estimate) {
            return Ok(found);
        }
    }
}

/// Prints a look, and ends the comparison if it is decided or long enough.
fn decide(request: &Request, made: &Pairs, estimate: &Estimate) -> Option<Comparison> {
    let pairs = made.pairs.len();
    let Stop::Until(limit) = request.stop else {
        return Some(comparison(request, made, estimate, None));
    };
    let side = match estimate.side(limit) {
        Some(Ordering::Less) => "below",
        Some(_) => "above",
        None => "undecided",
    };
    eprintln!(
        "look at {pairs} pairs: {:.4}, interval {:.4} to {:.4}: {side} {limit}",
        estimate.ratio, estimate.low, estimate.high
    );
    let over = side != "undecided" || pairs >= MOST;
    over.then(|| comparison(request, made, estimate, Some((limit, side))))
}

fn comparison(
    request: &Request,
    made: &Pairs,
    estimate: &Estimate,
    judged: Option<(f64, &'static str)>,
) -> Comparison {
    Comparison {
        case: request.case.clone(),
        a: request.a.clone(),
        b: request.b.clone(),
        b_case: request.b_case.clone(),
        figure: request.figure.clone().unwrap_or_else(|| "value".to_owned()),
        higher: request.higher,
        pairs: made.pairs.len(),
        ratio: estimate.ratio,
        ci_low: estimate.low,
        ci_high: estimate.high,
        a_median: stats::median(&made.a).unwrap_or(0.0),
        b_median: stats::median(&made.b).unwrap_or(0.0),
        limit: judged.map(|(limit, _)| limit),
        side: judged.map(|(_, side)| side),
    }
}

fn check_names(request: &Request) -> Result<(), String> {
    for (case, name) in [(&*request.case, &request.a), (request.case_of_b(), &request.b)] {
        let case = crate::cases::find(case)
            .ok_or_else(|| format!("no case {case}: see `raddle-lab list`"))?;
        let contender = contenders::find(name)
            .ok_or_else(|| format!("no contender {name}: see `raddle-lab list`"))?;
        if !contender.takes(case.name) {
            return Err(format!("{name} takes no part in {}", case.name));
        }
    }
    Ok(())
}

/// Two pairs: A B B A, or B A A B.
fn block(
    request: &Request,
    sampler: Sampler<'_>,
    a_first: bool,
    made: &mut Pairs,
) -> Result<(), String> {
    for first in if a_first { [First::A, First::B] } else { [First::B, First::A] } {
        let mut figure = |case: &str, name: &str| figure_of(request, &sampler(case, name));
        let (a_case, b_case) = (&request.case, request.case_of_b());
        let (a, b) = match first {
            First::A => {
                let a = figure(a_case, &request.a)?;
                (a, figure(b_case, &request.b)?)
            }
            First::B => {
                let b = figure(b_case, &request.b)?;
                (figure(a_case, &request.a)?, b)
            }
        };
        let log_ratio = if request.higher { (b / a).ln() } else { (a / b).ln() };
        made.pairs.push(Pair { log_ratio, first });
        made.a.push(a);
        made.b.push(b);
    }
    Ok(())
}

/// The figure that is compared; only a positive one has a ratio.
fn figure_of(request: &Request, sample: &Sample) -> Result<f64, String> {
    let name = &sample.contender;
    if !sample.is_ok() {
        return Err(format!("{name}: {}", sample.check));
    }
    let figure = request.figure.as_deref();
    let value = sample.figure(figure).ok_or_else(|| {
        let names: Vec<&str> = sample.figures.keys().map(String::as_str).collect();
        format!("{name} has no such figure; it has value {}", names.join(" "))
    })?;
    if value > 0.0 {
        return Ok(value);
    }
    Err(format!("{name}: {value} has no ratio; look at `one` instead"))
}
