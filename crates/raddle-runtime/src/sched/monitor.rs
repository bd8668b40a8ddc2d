//! The monitor: a thread that looks whether workers move, and has others do what a stuck one
//! leaves undone.
//!
//! A task that does not return keeps its worker's queues, driver and timers with it. No other
//! thread can take the task off the worker, but everything else can be taken over: the monitor
//! marks the worker (see [`duty`](crate::sched::duty)) and wakes a stand-in, which works like a
//! worker and visits the marked one's queues, driver and timers until it is back.
//!
//! | file | what it knows |
//! |---|---|
//! | `looks` | what is seen of each worker at a look, and what follows from it |
//! | `report` | tells of a task that does not return |
//!
//! When the thread sleeps, and who wakes it, is in [`rest`](crate::sched::rest).
//!
//! **When it looks.** Every [`EVERY`] while some worker is awake, and never otherwise: an idle
//! runtime wakes nobody. A worker that has not moved for the settable threshold (2 ms by default),
//! with work behind it, is looked at once more after [`AGAIN`]; if it has not moved by then, it is
//! stuck. Process time of a loop of yields with a look each 0.5 ms: +4.4 %, 1 ms +1.95 %, 2 ms
//! +1.05 %.
//!
//! A thread that the kernel does not run does not move either: its processor time tells. It is left
//! alone, unless it blocks in the kernel.
//!
//! **What counts as work behind it**: its slot, queues and inbox, tasks that foreign threads have
//! spawned, due timers, and whatever its driver has not looked at. A stuck worker with nothing
//! behind it is left alone: there is nothing to be done better elsewhere.
//!
//! **What stays behind**: tasks pinned to the stuck worker; on io_uring also completions that the
//! kernel posts only when the stuck thread comes by, for as long as it sleeps uninterruptibly in
//! the kernel. A thread that merely computes is [nudged](crate::park::Remote::nudge).

mod looks;
mod report;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use raddle_base::clock::Instant;
use raddle_base::shim::thread::system;

use crate::sched::shared::Shared;
use crate::sched::size;
use crate::sched::threads::Left;
use looks::{Looks, Next};

/// Between two looks at workers that move.
const EVERY: Duration = Duration::from_millis(2);
/// Until the second look at one that does not.
const AGAIN: Duration = Duration::from_micros(500);

/// Starts the monitor's thread, unless the settings do without it.
pub(crate) fn start(shared: &Arc<Shared>) -> io::Result<()> {
    if !shared.config.monitor {
        return Ok(());
    }
    let theirs = shared.clone();
    shared.running.enter();
    let name = format!("{}-monitor", shared.config.name);
    let thread = system::Builder::new().name(name).spawn(move || {
        // Also after a panic.
        let left = Left(theirs);
        run(&left.0);
    });
    match thread {
        Ok(thread) => {
            shared.threads.lock().push(thread);
            Ok(())
        }
        Err(error) => {
            shared.running.leave();
            Err(error)
        }
    }
}

fn run(shared: &Arc<Shared>) {
    size::sharpen_timers();
    let rest = &shared.rest;
    let mut looks = Looks::new(shared.peers.len());
    while !shared.phase.is_cancelling() {
        let now = Instant::now();
        let pause = match looks.look(shared, now) {
            Next::Usual => EVERY,
            Next::Again => AGAIN,
            Next::Rest => {
                rest.until_called(|| shared.is_anybody_awake() || shared.phase.is_cancelling());
                looks.forget();
                continue;
            }
        };
        rest.for_a_while(now + pause);
    }
}
