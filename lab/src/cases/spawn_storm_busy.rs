//! `spawn_storm_busy`: what does a task cost while the worker has something else to run?
//!
//! One task yields in a loop until told to stop; beside it empty tasks are spawned, then joined.
//! Checked: the sum of the tasks' results, and that the busy task ran at all.

use crate::cases::{join_sum, join_sum_blocking};
use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat, repeat_blocking};
use crate::rt::{Stacks, Tasks};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn number(plan: Plan) -> u64 {
    plan.size(10_000, 100)
}

/// On tasks.
pub(crate) fn tasks<R: Tasks>(plan: Plan) -> Verdict {
    R::run(repeat(plan, Judge::Wall, move || round::<R>(number(plan))))
}

/// On stacks.
pub(crate) fn stacks<S: Stacks>(plan: Plan) -> Verdict {
    S::run(1, move || repeat_blocking(plan, Judge::Wall, || round_blocking::<S>(number(plan))))
}

fn busy_must_have_run(turns: u64) -> Result<(), String> {
    if turns == 0 { Err("the busy task never ran".to_owned()) } else { Ok(()) }
}

async fn round<R: Tasks>(number: u64) -> Round {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = stop.clone();
    let busy = R::spawn(async move {
        let mut turns = 0u64;
        // Relaxed: a flag alone; the join is what orders the rest.
        while !seen.load(Ordering::Relaxed) {
            R::yield_now().await;
            turns += 1;
        }
        turns
    });
    // One turn for the busy task, so that the storm meets a queue that is never empty.
    R::yield_now().await;
    let joins = (0..number).map(|_| R::spawn(async { 1u64 })).collect();
    let done = join_sum::<R>(joins).await;
    // Relaxed: see the loop.
    stop.store(true, Ordering::Relaxed);
    busy_must_have_run(busy.await)?;
    expect_equal("tasks", done, number)?;
    Ok(done)
}

fn round_blocking<S: Stacks>(number: u64) -> Round {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = stop.clone();
    let busy = S::spawn(move || {
        let mut turns = 0u64;
        // Relaxed: a flag alone; the join is what orders the rest.
        while !seen.load(Ordering::Relaxed) {
            S::yield_now();
            turns += 1;
        }
        turns
    });
    S::yield_now();
    let joins = (0..number).map(|_| S::spawn(|| 1u64)).collect();
    let done = join_sum_blocking::<S>(joins)?;
    // Relaxed: see the loop.
    stop.store(true, Ordering::Relaxed);
    busy_must_have_run(S::join(busy).ok_or("the busy body panicked")?)?;
    expect_equal("units", done, number)?;
    Ok(done)
}
