//! `ping_pong_oneshot`: what does asking a fresh task cost?
//!
//! A round makes two oneshots and a task that awaits the first and answers on the second; the
//! asker sends, then awaits the answer. Checked: every answer is the question plus one.

use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat, repeat_blocking};
use crate::rt::{Stacks, Tasks};

fn trips(plan: Plan) -> u64 {
    plan.size(10_000, 50)
}

/// On tasks.
pub(crate) fn tasks<R: Tasks>(plan: Plan) -> Verdict {
    R::run(repeat(plan, Judge::Wall, move || round::<R>(trips(plan))))
}

/// On stacks.
pub(crate) fn stacks<S: Stacks>(plan: Plan) -> Verdict {
    S::run(1, move || repeat_blocking(plan, Judge::Wall, || round_blocking::<S>(trips(plan))))
}

async fn round<R: Tasks>(trips: u64) -> Round {
    for trip in 0..trips {
        let (ask, asked) = R::oneshot();
        let (answer, answered) = R::oneshot();
        let join = R::spawn(async move {
            let question = R::recv_one(asked).await;
            R::send_one(answer, question + 1);
        });
        R::send_one(ask, trip);
        expect_equal("answer", R::recv_one(answered).await, trip + 1)?;
        R::detach(join);
    }
    Ok(trips)
}

fn round_blocking<S: Stacks>(trips: u64) -> Round {
    for trip in 0..trips {
        let (ask, asked) = S::oneshot();
        let (answer, answered) = S::oneshot();
        let join = S::spawn(move || {
            let question = S::recv_one(asked);
            S::send_one(answer, question + 1);
        });
        S::send_one(ask, trip);
        expect_equal("answer", S::recv_one(answered), trip + 1)?;
        drop(join);
    }
    Ok(trips)
}
