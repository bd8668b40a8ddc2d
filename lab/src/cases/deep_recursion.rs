//! `deep_recursion`: what does a deep call chain cost, where stacks may have to be grown or mapped?
//!
//! 100 tasks, each calls itself 500 deep with frames of at least 128 bytes; on an async runtime
//! that is a plain recursive call inside one poll. Checked: every frame adds one.

use crate::cases::{join_sum, join_sum_blocking};
use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat, repeat_blocking};
use crate::rt::{Stacks, Tasks};
use std::hint::black_box;

const FRAMES: u64 = 500;

fn number(plan: Plan) -> u64 {
    plan.size(100, 5)
}

/// A frame that the compiler cannot fold away: its 128 bytes escape through `black_box`.
#[inline(never)]
fn recurse(frames: u64) -> u64 {
    let mut frame = [1u8; 128];
    black_box(&mut frame);
    if frames == 1 {
        return u64::from(frame[0]);
    }
    recurse(frames - 1) + u64::from(frame[(frames % 128) as usize])
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
    let joins = (0..number).map(|_| R::spawn(async { recurse(FRAMES) })).collect();
    expect_equal("frames", join_sum::<R>(joins).await, number * FRAMES)?;
    Ok(number)
}

fn round_blocking<S: Stacks>(number: u64) -> Round {
    let joins = (0..number).map(|_| S::spawn(|| recurse(FRAMES))).collect();
    expect_equal("frames", join_sum_blocking::<S>(joins)?, number * FRAMES)?;
    Ok(number)
}
