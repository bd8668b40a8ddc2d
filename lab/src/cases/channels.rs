//! `mpsc_contention` and `uncontended_channel`: what does a value cost through a channel?
//!
//! Both channels are unbounded. Checked: the consumer's count and sum.

use crate::cases::{join_sum, join_sum_blocking};
use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat, repeat_blocking};
use crate::rt::{Stacks, Tasks};

/// How many producers, and values of each.
type Shape = (u64, u64);

fn contended(plan: Plan) -> Shape {
    plan.size((8, 10_000), (8, 20))
}

fn alone(plan: Plan) -> Shape {
    plan.size((1, 100_000), (1, 100))
}

/// `mpsc_contention` on tasks.
pub(crate) fn contended_tasks<R: Tasks>(plan: Plan) -> Verdict {
    R::run(repeat(plan, Judge::Wall, move || round::<R>(contended(plan))))
}

/// `mpsc_contention` on stacks.
pub(crate) fn contended_stacks<S: Stacks>(plan: Plan) -> Verdict {
    S::run(1, move || repeat_blocking(plan, Judge::Wall, || round_blocking::<S>(contended(plan))))
}

/// `uncontended_channel` on tasks.
pub(crate) fn alone_tasks<R: Tasks>(plan: Plan) -> Verdict {
    R::run(repeat(plan, Judge::Wall, move || round::<R>(alone(plan))))
}

/// `uncontended_channel` on stacks.
pub(crate) fn alone_stacks<S: Stacks>(plan: Plan) -> Verdict {
    S::run(1, move || repeat_blocking(plan, Judge::Wall, || round_blocking::<S>(alone(plan))))
}

/// What the consumer must find: each producer sends 1, 2, …, values.
fn check((producers, values): Shape, sent: u64, (count, sum): (u64, u64)) -> Round {
    expect_equal("sent", sent, producers * values)?;
    expect_equal("received", count, producers * values)?;
    expect_equal("sum", sum, producers * (values * (values + 1) / 2))?;
    Ok(count)
}

async fn round<R: Tasks>(shape: Shape) -> Round {
    let (producers, values) = shape;
    let (tx, rx) = R::channel();
    let consumer = R::spawn(R::drain(rx));
    let producer = |tx: R::Tx| {
        R::spawn(async move {
            for value in 1..=values {
                R::send(&tx, value);
            }
            values
        })
    };
    let joins = (0..producers).map(|_| producer(tx.clone())).collect();
    drop(tx);
    let sent = join_sum::<R>(joins).await;
    check(shape, sent, consumer.await)
}

fn round_blocking<S: Stacks>(shape: Shape) -> Round {
    let (producers, values) = shape;
    let (tx, rx) = S::channel();
    let consumer = S::spawn(move || S::drain(rx));
    let producer = |tx: S::Tx| {
        S::spawn(move || {
            for value in 1..=values {
                S::send(&tx, value);
            }
            values
        })
    };
    let joins = (0..producers).map(|_| producer(tx.clone())).collect();
    drop(tx);
    let sent = join_sum_blocking::<S>(joins)?;
    check(shape, sent, S::join(consumer).ok_or("the consumer panicked")?)
}
