//! `mem_connection`: bytes of the server for each idle connection of the echo server.
//!
//! A second process opens as many connections as the limits on open files and ports allow, at most
//! 20,000, makes one echo on each and holds them. Kernel memory (sockets) is not counted; it is the
//! same for all. Resident memory stands beside the allocator's bytes, for servers with stacks,
//! rings or pools that come from mmap.

use super::level::{Basis, Level};
use crate::machine;
use crate::outcome::Verdict;
use crate::plan::Plan;
use crate::served::{self, Load, Ready};

/// On any echo server.
pub(crate) fn connection(plan: Plan, server: fn(Ready), basis: Basis) -> Verdict {
    // Both processes need some descriptors of their own; a server that met its limit would fail.
    let limit = machine::raise_file_limit().saturating_sub(200);
    let wanted = plan.size(20_000, 50).min(limit);
    let address = served::start(server)?;
    let hold = |number: u64| {
        let pid = std::process::id();
        let text = [address.to_string(), number.to_string(), pid.to_string()];
        let [address, number, pid] = text;
        let zero = "0".to_owned();
        Load::start(&["hold".to_owned(), address, number, zero.clone(), zero, pid])
    };
    let mut first = hold(10)?;
    first.line()?;
    first.finish()?;
    let before = Level::now();
    let mut load = hold(wanted)?;
    let line = load.line()?;
    let held: u64 = line.trim().parse().map_err(|error| format!("load said {line}: {error}"))?;
    if held == 0 {
        return Err("no connection could be opened".to_owned());
    }
    let outcome = before.growth(held, basis);
    load.finish()?;
    Ok(outcome.with("connections", held as f64))
}
