//! Repeating a case's round: one untimed, then timed ones until enough time has passed.
//!
//! The loop runs inside the contender (in a task or on a stack of its own), so that a round never
//! pays for starting or entering the runtime.

use crate::outcome::{Outcome, Verdict};
use crate::plan::Plan;
use std::time::{Duration, Instant};

/// Units done by one round, or what was wrong with it.
pub(crate) type Round = Result<u64, String>;

/// Which time a case is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judge {
    /// Elapsed time.
    Wall,
    /// CPU time of the whole process, for cases that mostly wait.
    Cpu,
}

/// CPU time of this process so far.
pub(crate) fn process_cpu() -> Duration {
    cpu_of(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or_default()
}

/// The time of a CPU clock, this process's or another's.
pub(crate) fn cpu_of(clock: libc::clockid_t) -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a live timespec of ours, which the call only fills in.
    let code = unsafe { libc::clock_gettime(clock, &mut time) };
    (code == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// What has been measured so far.
struct Tally {
    judge: Judge,
    wall: Duration,
    cpu: Duration,
    units: u64,
    rounds: u64,
}

/// The clocks at the start of a round.
struct Mark {
    wall: Instant,
    cpu: Duration,
}

impl Tally {
    fn new(judge: Judge) -> Tally {
        Tally { judge, wall: Duration::ZERO, cpu: Duration::ZERO, units: 0, rounds: 0 }
    }

    fn start(&self) -> Mark {
        let cpu = process_cpu();
        Mark { wall: Instant::now(), cpu }
    }

    fn stop(&mut self, mark: &Mark, units: u64) {
        let wall = mark.wall.elapsed();
        self.wall += wall;
        self.cpu += process_cpu().saturating_sub(mark.cpu);
        self.units += units;
        self.rounds += 1;
    }

    fn outcome(self) -> Outcome {
        let judged = if self.judge == Judge::Wall { self.wall } else { self.cpu };
        Outcome::per_unit(judged, self.units)
            .with("cpu", self.cpu.as_nanos() as f64 / self.units as f64)
            .with("rounds", self.rounds as f64)
            .with("timed_ms", self.wall.as_secs_f64() * 1e3)
    }
}

/// Repeats an async round.
pub(crate) async fn repeat<F, Fut>(plan: Plan, judge: Judge, mut round: F) -> Verdict
where
    F: FnMut() -> Fut + Send,
    Fut: Future<Output = Round> + Send,
{
    round().await?;
    let mut tally = Tally::new(judge);
    loop {
        let mark = tally.start();
        let units = round().await?;
        tally.stop(&mark, units);
        if tally.wall >= plan.floor() {
            return Ok(tally.outcome());
        }
    }
}

/// Repeats a blocking round.
pub(crate) fn repeat_blocking(
    plan: Plan,
    judge: Judge,
    mut round: impl FnMut() -> Round,
) -> Verdict {
    round()?;
    let mut tally = Tally::new(judge);
    loop {
        let mark = tally.start();
        let units = round()?;
        tally.stop(&mark, units);
        if tally.wall >= plan.floor() {
            return Ok(tally.outcome());
        }
    }
}
