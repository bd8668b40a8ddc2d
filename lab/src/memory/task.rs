//! `mem_task`: bytes for each of 100,000 tasks that wait on a 32-byte future.
//!
//! Tasks are spawned a hundred at a time, and polled before the next hundred, so that the run queue
//! never grows. After the measurement async contenders go on to 1,000,000 waiting tasks; then the
//! gate opens and all must run to completion.

use super::gate::Gate;
use super::level::{Basis, Level, completed};
use crate::outcome::Verdict;
use crate::plan::Plan;
use crate::rt::{Stacks, Tasks};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// On tasks.
pub(crate) fn tasks<R: Tasks>(plan: Plan) -> Verdict {
    R::run(body::<R>(plan))
}

async fn body<R: Tasks>(plan: Plan) -> Verdict {
    let measured = plan.size(100_000, 300);
    let all = plan.size(1_000_000, 1_000);
    let warm = Gate::new(100);
    let mut joins = Vec::with_capacity(all as usize);
    gather::<R>(&warm, &mut joins, 100).await;
    warm.open();
    for join in joins.drain(..) {
        join.await;
    }
    let gate = Gate::new(all as usize);
    let before = Level::now();
    gather::<R>(&gate, &mut joins, measured as usize).await;
    let outcome = before.growth(measured, Basis::Allocator);
    gather::<R>(&gate, &mut joins, all as usize).await;
    let outcome = outcome.with("waited_at_once", gate.waiting() as f64);
    gate.open();
    let mut done = 0;
    for join in joins {
        done += join.await;
    }
    completed(outcome, done, all)
}

/// Spawns tasks that wait, until there are `number`.
async fn gather<R: Tasks>(gate: &Arc<Gate>, joins: &mut Vec<R::Join<u64>>, number: usize) {
    while joins.len() < number {
        joins.push(R::spawn(gate.wait(joins.len())));
        if joins.len() % 100 == 0 {
            polled::<R>(gate, joins.len()).await;
        }
    }
    polled::<R>(gate, number).await;
}

async fn polled<R: Tasks>(gate: &Gate, number: usize) {
    while gate.waiting() < number {
        R::yield_now().await;
    }
}

/// On stacks, as many as mappings and threads allow: 2,000 units that wait for a oneshot.
pub(crate) fn stacks<S: Stacks>(plan: Plan) -> Verdict {
    let number = plan.size(2_000, 50);
    S::run(1, move || {
        let started = Arc::new(AtomicU64::new(0));
        let mut senders = Vec::with_capacity(number as usize);
        let mut joins = Vec::with_capacity(number as usize);
        let before = Level::now();
        for _ in 0..number {
            let (tx, rx) = S::oneshot();
            let started = started.clone();
            senders.push(tx);
            joins.push(S::spawn(move || {
                // Relaxed: a count that is polled; the oneshot orders the rest.
                started.fetch_add(1, Ordering::Relaxed);
                S::recv_one(rx)
            }));
        }
        // Relaxed: see above.
        while started.load(Ordering::Relaxed) < number {
            S::sleep(std::time::Duration::from_millis(1));
        }
        let outcome = before.growth(number, Basis::Resident);
        senders.into_iter().for_each(|tx| S::send_one(tx, 1));
        let done = joins.into_iter().filter_map(S::join).sum();
        completed(outcome, done, number)
    })
}
