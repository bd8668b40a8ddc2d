//! `spawn_batch`: what does a task cost, from spawn to join, when nothing else happens?
//!
//! Checked: each task returns 1; the sum is their number.

use crate::cases::{join_sum, join_sum_blocking};
use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat, repeat_blocking};
use crate::rt::{Stacks, Tasks};

fn number(plan: Plan) -> u64 {
    plan.exactly.unwrap_or(plan.size(10_000, 100))
}

/// On tasks.
pub(crate) fn tasks<R: Tasks>(plan: Plan) -> Verdict {
    R::run(repeat(plan, Judge::Wall, move || round::<R>(number(plan))))
}

/// On stacks.
pub(crate) fn stacks<S: Stacks>(plan: Plan) -> Verdict {
    S::run(1, move || repeat_blocking(plan, Judge::Wall, || round_blocking::<S>(number(plan))))
}

async fn round<R: Tasks>(number: u64) -> Round {
    let joins = (0..number).map(|_| R::spawn(async { 1u64 })).collect();
    let done = join_sum::<R>(joins).await;
    expect_equal("tasks", done, number)?;
    Ok(done)
}

fn round_blocking<S: Stacks>(number: u64) -> Round {
    let joins = (0..number).map(|_| S::spawn(|| 1u64)).collect();
    let done = join_sum_blocking::<S>(joins)?;
    expect_equal("units", done, number)?;
    Ok(done)
}
