//! `many_timers`: what does a timer cost in CPU time, from arming to the end of its task?
//!
//! Each task sleeps once, 1 to 10 ms, a fixed pseudo-random microsecond count. Judged by the CPU
//! time of the process, since the elapsed time is the longest sleep. Checked: the number of tasks
//! that came back.

use crate::cases::{join_sum, join_sum_blocking};
use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat, repeat_blocking};
use crate::rt::{Stacks, Tasks};
use crate::stats::Random;
use std::time::Duration;

fn number(plan: Plan) -> u64 {
    plan.size(10_000, 50)
}

/// The same sequence in every round of every contender.
fn sleeps(number: u64) -> impl Iterator<Item = Duration> {
    let mut random = Random::new(0x7133);
    (0..number).map(move |_| Duration::from_micros(1_000 + random.below(9_001) as u64))
}

/// On tasks.
pub(crate) fn tasks<R: Tasks>(plan: Plan) -> Verdict {
    R::run(repeat(plan, Judge::Cpu, move || round::<R>(number(plan))))
}

/// On stacks.
pub(crate) fn stacks<S: Stacks>(plan: Plan) -> Verdict {
    S::run(1, move || repeat_blocking(plan, Judge::Cpu, || round_blocking::<S>(number(plan))))
}

async fn round<R: Tasks>(number: u64) -> Round {
    let sleeper = |time| {
        R::spawn(async move {
            R::sleep(time).await;
            1u64
        })
    };
    let joins = sleeps(number).map(sleeper).collect();
    let done = join_sum::<R>(joins).await;
    expect_equal("timers", done, number)?;
    Ok(done)
}

fn round_blocking<S: Stacks>(number: u64) -> Round {
    let sleeper = |time| {
        S::spawn(move || {
            S::sleep(time);
            1u64
        })
    };
    let joins = sleeps(number).map(sleeper).collect();
    let done = join_sum_blocking::<S>(joins)?;
    expect_equal("timers", done, number)?;
    Ok(done)
}
