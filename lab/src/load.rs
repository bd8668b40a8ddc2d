//! The load generator: one thread, one epoll, one request in flight on each connection.
//!
//! It runs as a process of its own on CPU 1 and never sleeps: it polls its sockets in a loop, so
//! the server does not pay for waking it. Every answer is checked; a request's latency is the time
//! from its write to the read that completed it. After the warm-up it marks (its counts, its clock
//! and the server's CPU clock), measures, marks again, then lets every connection finish.
//!
//! `epoll` holds the system calls, `engine` the loop, `protocol` what is sent and how an answer is
//! recognised, `hold` the second job: connections that stay open and idle.

pub(crate) mod engine;
pub(crate) mod epoll;
pub(crate) mod hold;
pub(crate) mod protocol;
pub(crate) mod report;

use report::{Kind, Report};
use std::process::ExitCode;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// `load KIND ADDRESS CONNECTIONS WARM_UP_MS MEASURED_MS SERVER_PID`
pub(crate) fn main(arguments: &[String]) -> ExitCode {
    match run(arguments) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("load: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<String, String> {
    let [kind, address, connections, warm_up, measured, server] = arguments else {
        return Err(format!("six arguments are needed, got {arguments:?}"));
    };
    let number = |text: &str| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
    let kind = Kind::parse(kind).ok_or_else(|| format!("unknown kind {kind}"))?;
    let address = address.parse().map_err(|error| format!("{address}: {error}"))?;
    let connections = number(connections)? as usize;
    crate::machine::bind_to_cpus(&[1]);
    let server = number(server)? as libc::pid_t;
    let times = engine::Times {
        warm_up: Duration::from_millis(number(warm_up)?),
        measured: Duration::from_millis(number(measured)?),
    };
    let report = match kind {
        Kind::Echo => engine::run::<protocol::Echo>(address, connections, times, server),
        Kind::Http => engine::run::<protocol::Http>(address, connections, times, server),
        Kind::Hold => return hold::run(address, connections),
    };
    let report =
        report.unwrap_or_else(|mismatch| Report { mismatch: Some(mismatch), ..Report::default() });
    serde_json::to_string(&report).map_err(|error| error.to_string())
}
