//! `blocking_round_trip`: what does passing a call to the blocking pool and awaiting it cost?
//!
//! One task, one call at a time, the call returns at once. Both CPUs are open to the process.
//! Checked: every call's result.

use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat, repeat_blocking};
use crate::rt::{Offload, Stacks};

fn trips(plan: Plan) -> u64 {
    plan.size(1_000, 20)
}

/// On tasks.
pub(crate) fn tasks<R: Offload>(plan: Plan) -> Verdict {
    R::run(repeat(plan, Judge::Wall, move || round::<R>(trips(plan))))
}

/// On threads: there is no pool, so a fresh thread takes the call.
pub(crate) fn stacks<S: Stacks>(plan: Plan) -> Verdict {
    S::run(1, move || repeat_blocking(plan, Judge::Wall, || round_blocking::<S>(trips(plan))))
}

async fn round<R: Offload>(trips: u64) -> Round {
    for trip in 0..trips {
        expect_equal("result", R::blocking(move || trip + 1).await, trip + 1)?;
    }
    Ok(trips)
}

fn round_blocking<S: Stacks>(trips: u64) -> Round {
    for trip in 0..trips {
        let join = S::spawn(move || trip + 1);
        expect_equal("result", S::join(join).ok_or("the call panicked")?, trip + 1)?;
    }
    Ok(trips)
}
