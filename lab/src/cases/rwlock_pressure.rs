//! `rwlock_pressure`: how long does a writer wait while readers come without end?
//!
//! Persistent tasks on two workers. Readers read and yield in a loop. A holder takes the lock
//! shared and tells the writer, which asks for the lock; once a shared attempt of the holder fails,
//! so that the writer is known to wait, the holder lets go. What the writer waited, from asking to
//! having, is a sample. Then the holder yields until a reader has come through since the round
//! began; a round after which none does for a second counts in `zero_progress`.

use crate::cases::join_sum;
use crate::cases::rwlocks::writer_figures;
use crate::hand::touch;
use crate::kinds::ReadWrite;
use crate::outcome::{Outcome, Verdict, expect_equal};
use crate::plan::Plan;
use crate::rt::Tasks;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Readers that loop.
const READERS: usize = 2;

/// How long the holder waits for the writer to wait, and for a reader to come through.
const PATIENCE: Duration = Duration::from_secs(1);

struct Pressure<P> {
    lock: P,
    /// The round for which the writer may ask, and the last one it is through with.
    go: AtomicU64,
    done: AtomicU64,
    reads: AtomicU64,
    stop: AtomicBool,
}

/// The case; the value is the 99th percentile.
pub(crate) fn tasks<R: Tasks, P: ReadWrite>(plan: Plan) -> Verdict {
    let rounds = plan.units(100_000, 20);
    R::run(async move { pressure::<R, P>(rounds).await })
}

async fn pressure<R: Tasks, P: ReadWrite>(rounds: u64) -> Verdict {
    let zero = || AtomicU64::new(0);
    let shared = Arc::new(Pressure {
        lock: P::new(),
        go: zero(),
        done: zero(),
        reads: zero(),
        stop: AtomicBool::new(false),
    });
    let readers = (0..READERS).map(|_| R::spawn(reader::<R, P>(shared.clone()))).collect();
    let writer = R::spawn(writer::<R, P>(shared.clone(), rounds));
    let began = Instant::now();
    let starved = hold::<R, P>(&shared, rounds).await?;
    let took = began.elapsed();
    let mut waits = writer.await;
    // Relaxed: the readers look until they see it; joining orders the rest.
    shared.stop.store(true, Ordering::Relaxed);
    let reads = join_sum::<R>(readers).await;
    expect_equal("reads", reads, shared.reads.load(Ordering::Relaxed))?;
    expect_equal("writes", *shared.lock.read().await as u64, rounds)?;
    expect_equal("samples", waits.len() as u64, rounds)?;
    let figures = writer_figures(&mut waits);
    let outcome = Outcome { value: figures["writer_p99"], n: rounds, figures };
    Ok(outcome
        .with("zero_progress", starved as f64)
        .with("ns_a_read", took.as_nanos() as f64 / reads as f64))
}

/// The holder: gives the rounds in which no reader got through.
async fn hold<R: Tasks, P: ReadWrite>(shared: &Pressure<P>, rounds: u64) -> Result<u64, String> {
    let mut starved = 0;
    // Relaxed everywhere: these are counters; the lock orders what it protects.
    for round in 1..=rounds {
        let before = shared.reads.load(Ordering::Relaxed);
        let held = shared.lock.read().await;
        shared.go.store(round, Ordering::Relaxed);
        let began = Instant::now();
        while let Some(guard) = shared.lock.try_read() {
            drop(guard);
            if began.elapsed() > PATIENCE {
                return Err("the writer did not begin to wait within a second".to_owned());
            }
            R::yield_now().await;
        }
        drop(held);
        while shared.done.load(Ordering::Relaxed) < round {
            R::yield_now().await;
        }
        let began = Instant::now();
        while shared.reads.load(Ordering::Relaxed) == before {
            if began.elapsed() > PATIENCE {
                starved += 1;
                break;
            }
            R::yield_now().await;
        }
    }
    Ok(starved)
}

async fn reader<R: Tasks, P: ReadWrite>(shared: Arc<Pressure<P>>) -> u64 {
    let mut reads = 0;
    // Relaxed: see `hold`.
    while !shared.stop.load(Ordering::Relaxed) {
        black_box(&*shared.lock.read().await);
        shared.reads.fetch_add(1, Ordering::Relaxed);
        reads += 1;
        R::yield_now().await;
    }
    reads
}

async fn writer<R: Tasks, P: ReadWrite>(shared: Arc<Pressure<P>>, rounds: u64) -> Vec<f64> {
    let mut waits = Vec::with_capacity(rounds as usize);
    // Relaxed: see `hold`.
    for round in 1..=rounds {
        while shared.go.load(Ordering::Relaxed) < round {
            R::yield_now().await;
        }
        let asked = Instant::now();
        let mut guard = shared.lock.write().await;
        waits.push(asked.elapsed().as_nanos() as f64);
        touch(&mut guard);
        drop(guard);
        shared.done.store(round, Ordering::Relaxed);
    }
    waits
}
