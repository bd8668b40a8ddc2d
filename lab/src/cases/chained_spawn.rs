//! `chained_spawn`: what does a spawn cost when only one task is ever runnable?
//!
//! Each task spawns the next, lets go of it and ends; the last one answers on a oneshot.
//! Checked: the answer carries the number of links.

use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat, repeat_blocking};
use crate::rt::{Stacks, Tasks};

fn links(plan: Plan) -> u64 {
    plan.size(1_000, 20)
}

/// On tasks.
pub(crate) fn tasks<R: Tasks>(plan: Plan) -> Verdict {
    R::run(repeat(plan, Judge::Wall, move || round::<R>(links(plan))))
}

/// On stacks.
pub(crate) fn stacks<S: Stacks>(plan: Plan) -> Verdict {
    S::run(1, move || repeat_blocking(plan, Judge::Wall, || round_blocking::<S>(links(plan))))
}

async fn round<R: Tasks>(links: u64) -> Round {
    let (tx, rx) = R::oneshot();
    link::<R>(1, links, tx);
    let done = R::recv_one(rx).await;
    expect_equal("links", done, links)?;
    Ok(done)
}

/// Spawns link number `number` of `links`.
fn link<R: Tasks>(number: u64, links: u64, done: R::OneTx) {
    let join = R::spawn(async move {
        if number == links {
            R::send_one(done, number);
        } else {
            link::<R>(number + 1, links, done);
        }
    });
    R::detach(join);
}

fn round_blocking<S: Stacks>(links: u64) -> Round {
    let (tx, rx) = S::oneshot();
    link_blocking::<S>(1, links, tx);
    let done = S::recv_one(rx);
    expect_equal("links", done, links)?;
    Ok(done)
}

fn link_blocking<S: Stacks>(number: u64, links: u64, done: S::OneTx) {
    let join = S::spawn(move || {
        if number == links {
            S::send_one(done, number);
        } else {
            link_blocking::<S>(number + 1, links, done);
        }
    });
    drop(join);
}
