//! Mutexes: taken free, and fought for by threads and by tasks. Hand-offs are in `handoffs.rs`.

use crate::cases::join_sum;
use crate::hand::{by_hand, touch};
use crate::kinds::Lock;
use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat, repeat_blocking};
use crate::rt::Tasks;
use futures_lite::future::block_on;
use std::hint::black_box;
use std::sync::{Arc, Barrier};
use std::thread;

/// `mutex_ready`: lock, use, unlock; nobody else is there.
pub(crate) fn ready<L: Lock>(plan: Plan) -> Verdict {
    let lock = L::new();
    let mut sum = 0;
    let outcome = by_hand(plan, 2_000_000, |n, hand| {
        for _ in 0..n {
            touch(&mut hand.ready(black_box(&lock).lock()));
        }
        sum += n;
    })?;
    expect_equal("locked", value(&lock), sum)?;
    Ok(outcome)
}

/// `mutex_contended`: two threads lock, use and unlock.
pub(crate) fn contended<L: Lock>(plan: Plan) -> Verdict {
    let each = plan.units(200_000, 200);
    repeat_blocking(plan, Judge::Wall, || {
        let (lock, start) = (L::new(), Barrier::new(2));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    start.wait();
                    block_on(use_often(&lock, each));
                });
            }
        });
        expect_equal("locked", value(&lock), 2 * each)?;
        Ok(2 * each)
    })
}

/// `mutex_contended_tasks`: four tasks on two workers lock, use, unlock and yield.
pub(crate) fn contended_tasks<R: Tasks, L: Lock>(plan: Plan) -> Verdict {
    let each = plan.units(20_000, 50);
    R::run(repeat(plan, Judge::Wall, move || contended_round::<R, L>(each)))
}

async fn contended_round<R: Tasks, L: Lock>(each: u64) -> Round {
    let lock = Arc::new(L::new());
    let user = |lock: Arc<L>| {
        R::spawn(async move {
            for _ in 0..each {
                touch(&mut *lock.lock().await);
                R::yield_now().await;
            }
            each
        })
    };
    let joins = (0..4).map(|_| user(lock.clone())).collect();
    let used = join_sum::<R>(joins).await;
    expect_equal("locked", value(&*lock), used)?;
    Ok(used)
}

async fn use_often<L: Lock>(lock: &L, times: u64) {
    for _ in 0..times {
        touch(&mut *black_box(lock).lock().await);
    }
}

/// What the mutex protects, once nobody uses it any more.
fn value<L: Lock>(lock: &L) -> u64 {
    *block_on(lock.lock()) as u64
}
