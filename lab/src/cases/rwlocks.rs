//! Reader-writer locks: taken free, and shared by two workers in the mixes of 90 and 50 % reads.
//!
//! Hand-offs are in `handoffs.rs`, a writer against readers without end in `rwlock_pressure.rs`.

use crate::cases::join_sum;
use crate::hand::{by_hand, touch};
use crate::kinds::ReadWrite;
use crate::outcome::{Figures, Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat};
use crate::rt::Tasks;
use crate::stats;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Instant;

/// `rwlock_ready_read`: take shared, read, release; nobody else is there.
pub(crate) fn ready_read<P: ReadWrite>(plan: Plan) -> Verdict {
    let lock = P::new();
    by_hand(plan, 2_000_000, |n, hand| {
        for _ in 0..n {
            black_box(&*hand.ready(black_box(&lock).read()));
        }
    })
}

/// `rwlock_ready_write`: take, write, release; nobody else is there.
pub(crate) fn ready_write<P: ReadWrite>(plan: Plan) -> Verdict {
    let lock = P::new();
    let mut sum = 0;
    let outcome = by_hand(plan, 2_000_000, |n, hand| {
        for _ in 0..n {
            touch(&mut hand.ready(black_box(&lock).write()));
        }
        sum += n;
    })?;
    let written = crate::hand::Hand::new(0).ready(async { *lock.read().await as u64 });
    expect_equal("written", written, sum)?;
    Ok(outcome)
}

/// Waits of writers over all rounds, in ns.
type Waits = Arc<Mutex<Vec<f64>>>;

/// `rwlock_mixed_90` and `rwlock_mixed_50`: two tasks, one on each of two workers.
pub(crate) fn mixed<R: Tasks, P: ReadWrite>(plan: Plan, percent: u64) -> Verdict {
    let each = plan.units(50_000, 100);
    let waits = Waits::default();
    let kept = waits.clone();
    let round = move || mixed_round::<R, P>(each, percent, kept.clone());
    let mut outcome = R::run(repeat(plan, Judge::Wall, round))?;
    let mut waits = std::mem::take(&mut *waits.lock().expect("no task panicked"));
    outcome.figures.extend(writer_figures(&mut waits));
    Ok(outcome)
}

/// Percentiles of what writers waited.
pub(crate) fn writer_figures(waits: &mut [f64]) -> Figures {
    stats::sort(waits);
    let at = |q| stats::percentile(waits, q).unwrap_or(0.0);
    let figures = [("writer_p95", at(0.95)), ("writer_p99", at(0.99)), ("writer_max", at(1.0))];
    figures.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What the two tasks share.
struct Mix<P> {
    lock: P,
    /// Which thread each task runs on, once it runs.
    homes: [Mutex<Option<ThreadId>>; 2],
    warm: AtomicU64,
}

async fn mixed_round<R: Tasks, P: ReadWrite>(each: u64, percent: u64, waits: Waits) -> Round {
    let homes = [Mutex::new(None), Mutex::new(None)];
    let mix = Arc::new(Mix { lock: P::new(), homes, warm: AtomicU64::new(0) });
    let task = |seed| R::spawn(mixer::<R, P>(mix.clone(), seed, each, percent, waits.clone()));
    let tasks = [0, 1].map(task).into_iter().collect();
    let done = join_sum::<R>(tasks).await;
    let written = *mix.lock.read().await as u64;
    // The sum of both tasks' writes is what the lock protects: warm-up and all.
    expect_equal("written", written, done & u64::from(u32::MAX))?;
    expect_equal("operations", 2 * each, done >> 32)?;
    Ok(2 * each)
}

/// One task; gives its operations in the upper half and its writes in the lower.
async fn mixer<R: Tasks, P: ReadWrite>(
    mix: Arc<Mix<P>>,
    seed: usize,
    each: u64,
    percent: u64,
    waits: Waits,
) -> u64 {
    apart::<R, P>(&mix, seed).await;
    touch(&mut *mix.lock.write().await);
    // Relaxed: counts the two that are warm, and orders nothing.
    mix.warm.fetch_add(1, Ordering::Relaxed);
    while mix.warm.load(Ordering::Relaxed) < 2 {
        R::yield_now().await;
    }
    let mut choice = Choice(seed as u64 + 1);
    let mut waited = Vec::with_capacity(each as usize);
    for _ in 0..each {
        if choice.reads(percent) {
            black_box(&*mix.lock.read().await);
        } else {
            let asked = Instant::now();
            let mut guard = mix.lock.write().await;
            waited.push(asked.elapsed().as_nanos() as f64);
            touch(&mut guard);
        }
        R::yield_now().await;
    }
    let writes = waited.len() as u64 + 1;
    waits.lock().expect("no task panicked").append(&mut waited);
    each << 32 | writes
}

/// Yields until the two tasks run on two threads.
async fn apart<R: Tasks, P>(mix: &Mix<P>, me: usize) {
    loop {
        let here = Some(thread::current().id());
        *mix.homes[me].lock().expect("no task panicked") = here;
        let other = *mix.homes[1 - me].lock().expect("no task panicked");
        if other.is_some() && other != here {
            return;
        }
        R::yield_now().await;
    }
}

/// The sequence of reads and writes, the same for every contender.
struct Choice(u64);

impl Choice {
    fn reads(&mut self, percent: u64) -> bool {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) % 100 < percent
    }
}
