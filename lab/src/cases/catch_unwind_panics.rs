//! `catch_unwind_panics`: what does a task that panics cost?
//!
//! The panic hook is silenced first. Checked: every handle reports a panic.

use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat, repeat_blocking};
use crate::rt::{Stacks, Tasks};
use std::hint::black_box;
use std::panic;

fn number(plan: Plan) -> u64 {
    plan.size(1_000, 10)
}

/// A panic that the compiler cannot see coming.
fn fail() {
    if black_box(true) {
        panic!("on purpose");
    }
}

/// On tasks.
pub(crate) fn tasks<R: Tasks>(plan: Plan) -> Verdict {
    panic::set_hook(Box::new(|_| {}));
    R::run(repeat(plan, Judge::Wall, move || round::<R>(number(plan))))
}

/// On stacks.
pub(crate) fn stacks<S: Stacks>(plan: Plan) -> Verdict {
    panic::set_hook(Box::new(|_| {}));
    S::run(1, move || repeat_blocking(plan, Judge::Wall, || round_blocking::<S>(number(plan))))
}

async fn round<R: Tasks>(number: u64) -> Round {
    let joins: Vec<_> = (0..number).map(|_| R::spawn_panicking(async { fail() })).collect();
    let mut caught = 0;
    for join in joins {
        caught += u64::from(join.await);
    }
    expect_equal("panics", caught, number)?;
    Ok(caught)
}

fn round_blocking<S: Stacks>(number: u64) -> Round {
    let joins: Vec<_> = (0..number).map(|_| S::spawn(fail)).collect();
    let mut caught = 0;
    for join in joins {
        caught += u64::from(S::join(join).is_none());
    }
    expect_equal("panics", caught, number)?;
    Ok(caught)
}
