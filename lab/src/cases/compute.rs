//! `fan_out_compute` and `multi_thread_scaling`: does the runtime stay out of the way of work?
//!
//! 64 tasks of pure arithmetic, about 1 ms each: a fixed number of steps, so that every process
//! does the same work. The value is the time of a whole round. Checked: the tasks' results.
//!
//! `multi_thread_scaling` gives every contender two workers. Runtimes that share tasks between
//! threads get all 64; runtimes of one thread each run twice, with half of the tasks.

use crate::cases::{join_sum, join_sum_blocking};
use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat, repeat_blocking};
use crate::rt::{Stacks, Tasks};
use std::hint::black_box;
use std::thread;

/// Steps of `arithmetic` in about 1 ms at 3 GHz (three dependent shifts and exclusive ors each).
const STEPS: u64 = 500_000;

/// How many tasks, and steps of each.
type Shape = (u64, u64);

fn shape(plan: Plan) -> Shape {
    plan.size((64, STEPS), (8, 500))
}

/// Xorshift: each step depends on the one before.
fn arithmetic(seed: u64, steps: u64) -> u64 {
    let mut x = black_box(seed | 1);
    for _ in 0..steps {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}

/// What all tasks return, added up; computed before anything is timed.
fn expected((tasks, steps): Shape) -> u64 {
    (0..tasks).map(|task| arithmetic(task, steps)).fold(0, u64::wrapping_add)
}

/// On tasks, with the runtime's own number of workers.
pub(crate) fn tasks<R: Tasks>(plan: Plan) -> Verdict {
    let (shape, expected) = (shape(plan), expected(shape(plan)));
    R::run(repeat(plan, Judge::Wall, move || round::<R>(shape, expected)))
}

/// `fan_out_compute` on stacks.
pub(crate) fn stacks<S: Stacks>(plan: Plan) -> Verdict {
    on_stacks::<S>(plan, 1)
}

/// `multi_thread_scaling` on stacks.
pub(crate) fn stacks_on_two<S: Stacks>(plan: Plan) -> Verdict {
    on_stacks::<S>(plan, 2)
}

/// `multi_thread_scaling` on two runtimes of one thread, half of the tasks each.
pub(crate) fn split_tasks<R: Tasks>(plan: Plan) -> Verdict {
    let (tasks, steps) = shape(plan);
    let half = (tasks / 2, steps);
    let expected = expected(half);
    let halves = [0, 1].map(|_| thread::spawn(move || one_half::<R>(plan, half, expected)));
    let mut outcomes = Vec::new();
    for half in halves {
        outcomes.push(half.join().map_err(|_| "a half panicked")??);
    }
    // Both halves run at once and repeat until their time is up: the slower one's round counts.
    outcomes.into_iter().max_by(|a, b| a.value.total_cmp(&b.value)).ok_or_else(String::new)
}

fn one_half<R: Tasks>(plan: Plan, half: Shape, expected: u64) -> Verdict {
    R::run(repeat(plan, Judge::Wall, move || round::<R>(half, expected)))
}

fn on_stacks<S: Stacks>(plan: Plan, workers: usize) -> Verdict {
    let (shape, expected) = (shape(plan), expected(shape(plan)));
    S::run(workers, move || {
        repeat_blocking(plan, Judge::Wall, || round_blocking::<S>(shape, expected))
    })
}

async fn round<R: Tasks>((tasks, steps): Shape, expected: u64) -> Round {
    let joins = (0..tasks).map(|task| R::spawn(async move { arithmetic(task, steps) })).collect();
    expect_equal("arithmetic", join_sum::<R>(joins).await, expected)?;
    Ok(1)
}

fn round_blocking<S: Stacks>((units, steps): Shape, expected: u64) -> Round {
    let joins = (0..units).map(|unit| S::spawn(move || arithmetic(unit, steps))).collect();
    expect_equal("arithmetic", join_sum_blocking::<S>(joins)?, expected)?;
    Ok(1)
}
