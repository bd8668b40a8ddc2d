//! How a bar becomes a line of the table.

use crate::compare::{self, Request, Stop};
use crate::outcome::Sample;
use crate::run;
use crate::stats::RESAMPLES;

fn verdict(met: bool) -> &'static str {
    if met { "yes" } else { "**no**" }
}

/// A comparison as a line of the table; `with` says what is special about it.
pub(super) fn compared(
    what: &str,
    (a, b): (&str, &str),
    limit: f64,
    smoke: bool,
    with: impl FnOnce(Request) -> Request,
) -> String {
    let request = with(Request {
        case: what.to_owned(),
        a: a.to_owned(),
        b: b.to_owned(),
        b_case: None,
        figure: None,
        higher: false,
        stop: if smoke { Stop::Pairs(2) } else { Stop::Until(limit) },
        seed: 1,
        resamples: RESAMPLES,
        smoke,
        json: None,
    });
    let of = request.figure.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    let b_case = request.b_case.as_ref().map(|case| format!(", {case}")).unwrap_or_default();
    let mut sampler = |case: &str, contender: &str| run::sample(case, contender, smoke);
    let found = match compare::compare(&request, &mut sampler) {
        Ok(found) => format!(
            "{:.3} | {:.3} to {:.3} | {} | ≤ {limit:.4} | {}",
            found.ratio,
            found.ci_low,
            found.ci_high,
            found.pairs,
            verdict(found.ci_high <= limit)
        ),
        Err(error) => format!("{error} | | | ≤ {limit:.4} | **no**"),
    };
    format!("| {what}{of} | {a} | {b}{b_case} | {found} |")
}

/// A figure of a sample and its limit as a line of the table.
pub(super) fn line(sample: &Sample, figure: &str, limit: f64) -> String {
    let (found, met) = absolute(sample, figure, limit);
    let (case, contender) = (&sample.case, &sample.contender);
    format!("| {case} {figure} | {contender} | | {found} | | | ≤ {limit} | {} |", verdict(met))
}

/// What a sample says of an absolute bar; a mismatch or a missing figure does not meet it.
pub(super) fn absolute(sample: &Sample, figure: &str, limit: f64) -> (String, bool) {
    match sample.figure(Some(figure)) {
        _ if !sample.is_ok() => (sample.check.clone(), false),
        Some(value) => (format!("{value:.1} {}", sample.unit), value <= limit),
        None => ("no such figure".to_owned(), false),
    }
}
