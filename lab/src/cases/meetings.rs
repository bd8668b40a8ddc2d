//! Meeting points by hand: `barrier`, `latch`, `waitgroup`, `condvar`.
//!
//! One future waits, the other side arrives, the future completes.

use crate::hand::{touch, with_wakes};
use crate::kinds::{Condition, Gate, Group, Lock, Meeting};
use crate::outcome::Verdict;
use crate::plan::Plan;
use std::hint::black_box;
use std::pin::pin;

/// `barrier`: two parties; the first waits, the second completes both.
pub(crate) fn barrier<M: Meeting>(plan: Plan) -> Verdict {
    let meeting = M::new(2);
    with_wakes(plan, 500_000, 1, |n, hand| {
        for _ in 0..n {
            let meeting = black_box(&meeting);
            let mut first = pin!(meeting.wait());
            hand.park(first.as_mut());
            black_box(&hand.ready(meeting.wait()));
            black_box(&hand.finish(first));
        }
    })
}

/// `latch`: a fresh latch of one, a wait, the count down.
pub(crate) fn latch<G: Gate>(plan: Plan) -> Verdict {
    with_wakes(plan, 500_000, 1, |n, hand| {
        for _ in 0..n {
            let latch = G::new(black_box(1));
            let latch = black_box(&latch);
            let mut wait = pin!(latch.wait());
            hand.park(wait.as_mut());
            latch.count_down();
            hand.finish(wait);
        }
    })
}

/// `waitgroup`: a fresh group of two; one waits, the other is dropped.
pub(crate) fn waitgroup<G: Group>(plan: Plan) -> Verdict {
    with_wakes(plan, 500_000, 1, |n, hand| {
        for _ in 0..n {
            let group = G::new();
            let other = black_box(&group).clone();
            let mut wait = pin!(group.wait());
            hand.park(wait.as_mut());
            drop(other);
            hand.finish(wait);
        }
    })
}

/// `condvar`: a wait lets go of the mutex, it is taken, notified and let go, the wait has it again.
pub(crate) fn condvar<C: Condition>(plan: Plan) -> Verdict {
    let (lock, condition) = (C::Lock::new(), C::new());
    with_wakes(plan, 500_000, 1, |n, hand| {
        for _ in 0..n {
            let (lock, condition) = (black_box(&lock), black_box(&condition));
            let mut wait = pin!(condition.wait(hand.ready(lock.lock())));
            hand.park(wait.as_mut());
            let mut held = hand.ready(lock.lock());
            touch(&mut held);
            condition.notify_one();
            drop(held);
            touch(&mut hand.finish(wait));
        }
    })
}
