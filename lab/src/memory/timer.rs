//! `mem_timer`: bytes for each of 100,000 tasks that sleep for an hour.
//!
//! As in `mem_task` they are spawned a hundred at a time. Checked: every one was polled, none
//! ended. They are still asleep when the runtime stops.

use super::level::{Basis, Level, completed};
use crate::outcome::Verdict;
use crate::plan::Plan;
use crate::rt::{Stacks, Tasks};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

/// How many began to sleep, and how many woke.
#[derive(Debug, Default)]
struct Tally {
    begun: AtomicU64,
    woken: AtomicU64,
}

impl Tally {
    fn begin(&self) {
        // Relaxed: a count that is polled.
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    fn wake(&self) {
        // Relaxed: a count.
        self.woken.fetch_add(1, Ordering::Relaxed);
    }

    fn begun(&self) -> u64 {
        // Relaxed: see `begin`.
        self.begun.load(Ordering::Relaxed)
    }

    fn asleep(&self) -> u64 {
        // Relaxed: see `wake`.
        self.begun() - self.woken.load(Ordering::Relaxed)
    }
}

/// On tasks.
pub(crate) fn tasks<R: Tasks>(plan: Plan) -> Verdict {
    let number = plan.size(100_000, 300);
    R::run(async move {
        R::spawn(R::sleep(Duration::from_millis(1))).await;
        let tally = Arc::new(Tally::default());
        let mut joins = Vec::with_capacity(number as usize);
        let before = Level::now();
        for spawned in 1..=number {
            joins.push(R::spawn(sleeper::<R>(tally.clone())));
            while spawned % 100 == 0 && tally.begun() < spawned {
                R::yield_now().await;
            }
        }
        while tally.begun() < number {
            R::yield_now().await;
        }
        R::yield_now().await;
        let outcome = before.growth(number, Basis::Allocator);
        joins.into_iter().for_each(R::detach);
        completed(outcome, tally.asleep(), number)
    })
}

async fn sleeper<R: Tasks>(tally: Arc<Tally>) {
    tally.begin();
    R::sleep(HOUR).await;
    tally.wake();
}

/// On stacks: 2,000 units.
pub(crate) fn stacks<S: Stacks>(plan: Plan) -> Verdict {
    let number = plan.size(2_000, 50);
    S::run(1, move || {
        let tally = Arc::new(Tally::default());
        let before = Level::now();
        for _ in 0..number {
            let tally = tally.clone();
            drop(S::spawn(move || {
                tally.begin();
                S::sleep(HOUR);
                tally.wake();
            }));
        }
        while tally.begun() < number {
            S::sleep(Duration::from_millis(1));
        }
        let outcome = before.growth(number, Basis::Resident);
        completed(outcome, tally.asleep(), number)
    })
}
