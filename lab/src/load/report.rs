//! What passes between the server's process and the load's: the kind of load, and its report.

use serde::{Deserialize, Serialize};

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Echo,
    Http,
    Hold,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Echo => "echo",
            Kind::Http => "http",
            Kind::Hold => "hold",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Kind> {
        [Kind::Echo, Kind::Http, Kind::Hold].into_iter().find(|kind| kind.name() == name)
    }
}

/// What the load saw between its two marks.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) requests: u64,
    pub(crate) elapsed_ns: u64,
    pub(crate) server_cpu_ns: u64,
    pub(crate) p50_ns: f64,
    pub(crate) p99_ns: f64,
    /// What was wrong, if anything was.
    pub(crate) mismatch: Option<String>,
}
