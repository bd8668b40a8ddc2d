//! `spawn_storm_busy`: what does a task cost while the worker has something else to run?
//!
//! One task says that it runs, then yields in a loop until told to stop; empty tasks are spawned
//! beside it, then joined. Checked: the sum of the tasks' results.

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

/// Tells the busy task to stop. Relaxed: a flag alone, the joins are what orders the rest.
#[derive(Debug, Default)]
struct Stop(AtomicBool);

impl Stop {
    fn order(&self) {
        // Relaxed: see the type.
        self.0.store(true, Ordering::Relaxed);
    }

    fn ordered(&self) -> bool {
        // Relaxed: see the type.
        self.0.load(Ordering::Relaxed)
    }
}

async fn round<R: Tasks>(number: u64) -> Round {
    let stop = Arc::new(Stop::default());
    let seen = stop.clone();
    let (tx, begun) = R::oneshot();
    let busy = R::spawn(async move {
        R::send_one(tx, 1);
        while !seen.ordered() {
            R::yield_now().await;
        }
    });
    R::recv_one(begun).await;
    let joins = (0..number).map(|_| R::spawn(async { 1u64 })).collect();
    let done = join_sum::<R>(joins).await;
    stop.order();
    busy.await;
    expect_equal("tasks", done, number)?;
    Ok(done)
}

fn round_blocking<S: Stacks>(number: u64) -> Round {
    let stop = Arc::new(Stop::default());
    let seen = stop.clone();
    let (tx, begun) = S::oneshot();
    let busy = S::spawn(move || {
        S::send_one(tx, 1);
        while !seen.ordered() {
            S::yield_now();
        }
    });
    S::recv_one(begun);
    let joins = (0..number).map(|_| S::spawn(|| 1u64)).collect();
    let done = join_sum_blocking::<S>(joins)?;
    stop.order();
    S::join(busy).ok_or("the busy body panicked")?;
    expect_equal("units", done, number)?;
    Ok(done)
}
