//! The network cases, seen from the server's process.
//!
//! The contender serves on a thread of this process, bound to CPU 0 with all its threads; the load
//! is a second process of the same binary on CPU 1. The load reads this process's CPU clock at its
//! two marks itself (`clock_getcpuclockid`), together with its own counts, so nothing here has to
//! wake up in between. The server is abandoned when the load has reported; the process ends then.

use crate::load::report::{Kind, Report};
use crate::outcome::{Outcome, Verdict};
use crate::plan::Plan;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Tells that the server listens, and where.
#[derive(Debug)]
pub(crate) struct Ready(mpsc::Sender<SocketAddr>);

impl Ready {
    pub(crate) fn listening(self, address: SocketAddr) {
        // If nobody waits any more, the sample has failed already and the process is ending.
        let _ = self.0.send(address);
    }
}

/// A contender's echo server: reads and writes back until the peer closes. Never returns in time.
pub(crate) trait Echo {
    fn echo(ready: Ready);
}

/// A contender's HTTP server: `hello`, over hyper.
pub(crate) trait Http {
    fn http(ready: Ready);
}

/// `echo_…` and `http_hello`: a server under load, judged by its CPU time a request.
pub(crate) fn under_load(plan: Plan, server: fn(Ready), kind: Kind, connections: usize) -> Verdict {
    let connections = plan.size(connections, connections.min(50));
    let address = start(server)?;
    let (warm_up, measured) = plan.size((200, 400), (10, 30));
    let mut load = Load::start(&[
        kind.name().to_owned(),
        address.to_string(),
        connections.to_string(),
        warm_up.to_string(),
        measured.to_string(),
        std::process::id().to_string(),
    ])?;
    let line = load.line()?;
    load.finish()?;
    let report: Report = serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
    if let Some(mismatch) = report.mismatch {
        return Err(format!("load: {mismatch}"));
    }
    let cpu = Duration::from_nanos(report.server_cpu_ns);
    let seconds = report.elapsed_ns as f64 / 1e9;
    Ok(Outcome::per_unit(cpu, report.requests)
        .with("requests_per_s", report.requests as f64 / seconds)
        .with("p50", report.p50_ns)
        .with("p99", report.p99_ns)
        .with("server_busy", report.server_cpu_ns as f64 / report.elapsed_ns as f64)
        .with("connections", connections as f64))
}

/// Starts the server on its thread, and waits until it listens.
pub(crate) fn start(server: fn(Ready)) -> Result<SocketAddr, String> {
    let (tx, rx) = mpsc::channel();
    thread::Builder::new()
        .name("server".to_owned())
        .spawn(move || server(Ready(tx)))
        .map_err(|error| format!("server thread: {error}"))?;
    rx.recv_timeout(Duration::from_secs(10)).map_err(|_| "the server never listened".to_owned())
}

/// The load generator's process.
pub(crate) struct Load {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Load {
    /// Runs this binary as `load`.
    pub(crate) fn start(arguments: &[String]) -> Result<Load, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut child = Command::new(program)
            .arg("load")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("load process: {error}"))?;
        let output = child.stdout.take().ok_or("no output of the load")?;
        Ok(Load { child, output: BufReader::new(output) })
    }

    /// The next line it prints.
    pub(crate) fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|error| format!("load: {error}"))?;
        if line.is_empty() { Err("the load ended without a report".to_owned()) } else { Ok(line) }
    }

    /// Closes its input (the sign to end) and waits for it.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        drop(self.child.stdin.take());
        let status = self.child.wait().map_err(|error| format!("load: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("load: {status}")) }
    }
}
