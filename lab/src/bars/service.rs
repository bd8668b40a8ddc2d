//! The bars of the service cases: waits in µs, and yields and waits as ratios.

use super::lines::{compared, line};
use crate::compare::Request;
use crate::run;

/// Figures of one case, and the most that each may be, for several contenders.
pub(super) struct Waits {
    pub(super) case: &'static str,
    pub(super) by: &'static [&'static str],
    limits: &'static [(&'static str, f64)],
}

const BOTH: &[&str] = &["raddle", "raddle-epoll"];

/// Three bodies.
const BODIES: &[(&str, f64)] = &[("io_p99", 300.0), ("remote_p99", 300.0), ("timer_p99", 300.0)];

const STUCK: &[(&str, f64)] =
    &[("io_p99", 5_000.0), ("remote_p99", 5_000.0), ("timer_p99", 5_000.0)];

/// How long somebody waits at most.
pub(super) static WAITS: &[Waits] = &[
    Waits { case: "service", by: &["raddle"], limits: &[("io_p50", 10.0), ("io_p99", 60.0)] },
    Waits {
        case: "service",
        by: &["raddle-epoll"],
        limits: &[("io_p50", 50.0), ("io_p99", 120.0)],
    },
    Waits {
        case: "service",
        by: BOTH,
        limits: &[
            ("remote_p50", 6.0),
            ("remote_p99", 25.0),
            ("timer_p50", 60.0),
            ("timer_p99", 150.0),
        ],
    },
    Waits { case: "service_body_100us", by: BOTH, limits: BODIES },
    Waits { case: "service_64_body_100us", by: BOTH, limits: BODIES },
    Waits {
        case: "stuck_worker",
        by: &["raddle", "raddle-epoll", "raddle-multi", "raddle-multi-epoll"],
        limits: STUCK,
    },
    Waits {
        case: "stuck_worker_but_one",
        by: &["raddle-multi", "raddle-multi-epoll"],
        limits: STUCK,
    },
];

/// A bar on a figure other than the value, perhaps against another case.
pub(super) struct OfFigure {
    pub(super) case: &'static str,
    figure: &'static str,
    /// More is better: the ratio is of the peer to the contender.
    higher: bool,
    pub(super) a: &'static str,
    pub(super) b: &'static str,
    pub(super) b_case: &'static str,
    limit: f64,
}

/// Yields completed while events are served: at least so many times those of the peer.
const fn yields(a: &'static str, b: &'static str, b_case: &'static str, times: f64) -> OfFigure {
    let (case, figure) = ("service", "yields_per_s");
    OfFigure { case, figure, higher: true, a, b, b_case, limit: 1.0 / times }
}

/// A wait beside a busy worker, against tokio's.
const fn sibling(figure: &'static str, a: &'static str) -> OfFigure {
    let (case, b) = ("busy_sibling", "tokio-multi");
    OfFigure { case, figure, higher: false, a, b, b_case: case, limit: 2.0 }
}

/// Ratios of figures.
pub(super) static FIGURES: &[OfFigure] = &[
    yields("raddle", "raddle", "service_idle", 0.97),
    yields("raddle-epoll", "raddle-epoll", "service_idle", 0.97),
    yields("raddle", "tokio-multi", "service", 20.0),
    sibling("io_p99", "raddle-multi"),
    sibling("remote_p99", "raddle-multi"),
    sibling("io_p99", "raddle-multi-epoll"),
    sibling("remote_p99", "raddle-multi-epoll"),
];

/// The lines of one sample of each contender.
pub(super) fn measured(bar: &Waits, smoke: bool) -> Vec<String> {
    let of = |name: &&'static str| {
        let sample = run::sample(bar.case, name, smoke);
        let lines = bar.limits.iter().map(|(figure, limit)| line(&sample, figure, *limit));
        lines.collect::<Vec<String>>()
    };
    bar.by.iter().flat_map(of).collect()
}

/// One ratio as a line.
pub(super) fn judged(bar: &OfFigure, smoke: bool) -> String {
    compared(bar.case, (bar.a, bar.b), bar.limit, smoke, |request| Request {
        b_case: (bar.b_case != bar.case).then(|| bar.b_case.to_owned()),
        figure: Some(bar.figure.to_owned()),
        higher: bar.higher,
        ..request
    })
}
