//! `yield_many` and `yield_in_hot_loop`: what does a pass through the run queue cost?
//!
//! Checked: the tasks add up to exactly as many yields as asked for.

use crate::cases::{join_sum, join_sum_blocking};
use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat, repeat_blocking};
use crate::rt::{Stacks, Tasks};

/// How many tasks, and yields of each.
type Shape = (u64, u64);

fn many(plan: Plan) -> Shape {
    plan.size((1_000, 100), (10, 5))
}

fn hot(plan: Plan) -> Shape {
    (1, plan.exactly.unwrap_or(plan.size(1_000_000, 50)))
}

/// `yield_many` on tasks.
pub(crate) fn many_tasks<R: Tasks>(plan: Plan) -> Verdict {
    many_tasks_by::<R>(plan, Judge::Wall)
}

/// The same, judged by either time.
pub(crate) fn many_tasks_by<R: Tasks>(plan: Plan, judge: Judge) -> Verdict {
    let shape = many(plan);
    R::run(repeat(plan, judge, move || round::<R>(shape)))
}

/// `yield_many` on stacks.
pub(crate) fn many_stacks<S: Stacks>(plan: Plan) -> Verdict {
    let shape = many(plan);
    S::run(1, move || repeat_blocking(plan, Judge::Wall, || round_blocking::<S>(shape)))
}

/// `yield_in_hot_loop` on tasks.
pub(crate) fn hot_tasks<R: Tasks>(plan: Plan) -> Verdict {
    let shape = hot(plan);
    R::run(repeat(plan, Judge::Wall, move || round::<R>(shape)))
}

/// `yield_in_hot_loop` on stacks.
pub(crate) fn hot_stacks<S: Stacks>(plan: Plan) -> Verdict {
    let shape = hot(plan);
    S::run(1, move || repeat_blocking(plan, Judge::Wall, || round_blocking::<S>(shape)))
}

async fn round<R: Tasks>((tasks, yields): Shape) -> Round {
    let joins = (0..tasks).map(|_| R::spawn(yielder::<R>(yields))).collect();
    let done = join_sum::<R>(joins).await;
    expect_equal("yields", done, tasks * yields)?;
    Ok(done)
}

async fn yielder<R: Tasks>(yields: u64) -> u64 {
    let mut done = 0;
    for _ in 0..yields {
        R::yield_now().await;
        done += 1;
    }
    done
}

fn round_blocking<S: Stacks>((units, yields): Shape) -> Round {
    let joins = (0..units).map(|_| S::spawn(move || yielder_blocking::<S>(yields))).collect();
    let done = join_sum_blocking::<S>(joins)?;
    expect_equal("yields", done, units * yields)?;
    Ok(done)
}

fn yielder_blocking<S: Stacks>(yields: u64) -> u64 {
    let mut done = 0;
    for _ in 0..yields {
        S::yield_now();
        done += 1;
    }
    done
}
