//! `spawn_storm_busy`: what does a task cost while the worker has something else to run?
//!
//! One task yields in a loop until told to stop; once it runs, empty tasks are spawned beside it,
//! then joined. Checked: the sum of the tasks' results, and that the busy task took turns.

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

/// What the busy task and the body tell each other. Relaxed throughout: flags alone, the joins are
/// what orders the rest.
#[derive(Debug, Default)]
struct Signs {
    runs: AtomicBool,
    stop: AtomicBool,
}

impl Signs {
    /// The busy task's question after each turn.
    fn goes_on(&self) -> bool {
        // Relaxed: see the type.
        self.runs.store(true, Ordering::Relaxed);
        // Relaxed: see the type.
        !self.stop.load(Ordering::Relaxed)
    }

    fn runs(&self) -> bool {
        // Relaxed: see the type.
        self.runs.load(Ordering::Relaxed)
    }

    fn stop(&self) {
        // Relaxed: see the type.
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn took_turns(turns: u64) -> Result<(), String> {
    if turns == 0 { Err("the busy task took no turn".to_owned()) } else { Ok(()) }
}

async fn round<R: Tasks>(number: u64) -> Round {
    let signs = Arc::new(Signs::default());
    let seen = signs.clone();
    let busy = R::spawn(async move {
        let mut turns = 0u64;
        while seen.goes_on() {
            R::yield_now().await;
            turns += 1;
        }
        turns
    });
    while !signs.runs() {
        R::yield_now().await;
    }
    let joins = (0..number).map(|_| R::spawn(async { 1u64 })).collect();
    let done = join_sum::<R>(joins).await;
    signs.stop();
    took_turns(busy.await)?;
    expect_equal("tasks", done, number)?;
    Ok(done)
}

fn round_blocking<S: Stacks>(number: u64) -> Round {
    let signs = Arc::new(Signs::default());
    let seen = signs.clone();
    let busy = S::spawn(move || {
        let mut turns = 0u64;
        while seen.goes_on() {
            S::yield_now();
            turns += 1;
        }
        turns
    });
    while !signs.runs() {
        S::yield_now();
    }
    let joins = (0..number).map(|_| S::spawn(|| 1u64)).collect();
    let done = join_sum_blocking::<S>(joins)?;
    signs.stop();
    took_turns(S::join(busy).ok_or("the busy body panicked")?)?;
    expect_equal("units", done, number)?;
    Ok(done)
}
