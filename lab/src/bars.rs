//! `bars`: every bar that raddle has to reach, measured one after the other.
//!
//! A relative bar is a comparison that looks until it is decided; it is met when the upper bound of
//! the interval is at or below the limit. An absolute bar is one sample's figure. What comes out is
//! a table in Markdown with ratio, interval and verdict, each line with its command.

use crate::machine::Machine;
use crate::run;
use lines::{compared, line};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

mod lines;
mod service;

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
    ("noise", "raddle", "raddle-quiet", 1.025),
    ("event_is_set", "raddle", "asyncband", 1.03),
    ("event_ready_wait", "raddle", "asyncband", 0.35),
    ("event_cycle", "raddle", "asyncband", 0.65),
    ("auto_event_ready", "raddle", "asyncband", 0.6),
    ("auto_event_cycle", "raddle", "asyncband", 0.8),
    ("mutex_ready", "raddle", "async-lock", 0.6),
    ("mutex_ready", "raddle", "asyncband", 0.35),
    ("mutex_handoff", "raddle", "asyncband", 0.5),
    ("mutex_contended", "raddle", "async-lock", 1.03),
    ("mutex_contended", "raddle", "tokio", 1.03),
    ("rwlock_ready_read", "raddle", "async-lock", 0.65),
    ("rwlock_ready_read", "raddle", "asyncband", 0.65),
    ("rwlock_ready_write", "raddle", "asyncband", 0.45),
    ("rwlock_last_reader_handoff", "raddle", "asyncband", 0.6),
    ("rwlock_writer_writer_handoff", "raddle", "asyncband", 0.6),
    ("rwlock_pressure", "raddle", "tokio", 0.5),
    ("mpsc_bounded", "raddle", "tokio", 0.4),
    ("mpsc_bounded", "raddle", "asyncband", 0.8),
    ("mpsc_unbounded", "raddle", "tokio", 0.4),
    ("mpsc_unbounded", "raddle", "asyncband", 0.8),
    ("oneshot", "raddle", "asyncband", 1.03),
    ("watch", "raddle", "asyncband", 1.03),
    ("broadcast", "raddle", "tokio", 0.8),
];

/// Case, contender, figure, and the most that it may be.
type Absolute = (&'static str, &'static str, &'static str, f64);

static ABSOLUTE: &[Absolute] = &[
    ("mem_task", "raddle", "value", 192.0),
    ("idle_wakeups", "raddle", "value", 0.0),
    ("idle_wakeups", "raddle-epoll", "value", 0.0),
    ("timer_lateness", "raddle", "late_100us_p50", 100.0),
    ("timer_lateness", "raddle-epoll", "late_100us_p50", 100.0),
    ("rwlock_pressure", "raddle", "zero_progress", 0.0),
    ("once_cell_8_waiters", "raddle", "hops", 1.0),
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
    let waits = service::WAITS.iter().filter(|bar| chosen(bar.case));
    let waits = waits.flat_map(|bar| service::measured(bar, smoke));
    let figures = service::FIGURES.iter().filter(|bar| chosen(bar.case));
    let figures = figures.map(|bar| service::judged(bar, smoke));
    for line in relative.chain(absolute).chain(waits).chain(figures) {
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

/// One relative bar as a line of the table.
fn judged(&(case, a, b, limit): &Relative, smoke: bool) -> String {
    compared(case, (a, b), limit, smoke, |request| request)
}

/// One absolute bar as a line of the table.
fn measured(&(case, contender, figure, limit): &Absolute, smoke: bool) -> String {
    line(&run::sample(case, contender, smoke), figure, limit)
}
