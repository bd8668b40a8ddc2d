//! Hand-offs: somebody holds, others queue, the holder lets go, the others get it and let go.
//!
//! By hand, and in the variants `_tasks` between tasks of one worker: the body holds until all
//! targets are parked in the queue, lets go, and yields until they have been through.

use crate::cases::join_sum;
use crate::hand::{by_hand, with_wakes};
use crate::kinds::{Lock, Permits, ReadWrite};
use crate::outcome::{Verdict, expect_equal};
use crate::plan::Plan;
use crate::rounds::{Judge, Round, repeat};
use crate::rt::Tasks;
use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Readers that a writer lets in at once.
const READERS: usize = 8;

/// From whom to whom.
pub(crate) trait Handoff: Send + Sync + 'static {
    /// How many wait.
    const WAITERS: usize = 1;

    fn new() -> Self;

    /// What the holder does.
    fn hold(&self) -> impl Future<Output = impl Send> + Send;

    /// What each waiter does.
    fn take(&self) -> impl Future<Output = impl Send> + Send;
}

/// `mutex_handoff`.
pub(crate) struct ToOwner<L>(L);

impl<L: Lock> Handoff for ToOwner<L> {
    fn new() -> Self {
        ToOwner(L::new())
    }

    #[inline]
    fn hold(&self) -> impl Future<Output = impl Send> + Send {
        self.0.lock()
    }

    #[inline]
    fn take(&self) -> impl Future<Output = impl Send> + Send {
        self.0.lock()
    }
}

/// `rwlock_last_reader_handoff`: the last reader to a writer.
pub(crate) struct ReaderToWriter<P>(P);

impl<P: ReadWrite> Handoff for ReaderToWriter<P> {
    fn new() -> Self {
        ReaderToWriter(P::new())
    }

    #[inline]
    fn hold(&self) -> impl Future<Output = impl Send> + Send {
        self.0.read()
    }

    #[inline]
    fn take(&self) -> impl Future<Output = impl Send> + Send {
        self.0.write()
    }
}

/// `rwlock_writer_writer_handoff`.
pub(crate) struct WriterToWriter<P>(P);

impl<P: ReadWrite> Handoff for WriterToWriter<P> {
    fn new() -> Self {
        WriterToWriter(P::new())
    }

    #[inline]
    fn hold(&self) -> impl Future<Output = impl Send> + Send {
        self.0.write()
    }

    #[inline]
    fn take(&self) -> impl Future<Output = impl Send> + Send {
        self.0.write()
    }
}

/// `rwlock_writer_readers_handoff`: a writer to eight readers.
pub(crate) struct WriterToReaders<P>(P);

impl<P: ReadWrite> Handoff for WriterToReaders<P> {
    const WAITERS: usize = READERS;

    fn new() -> Self {
        WriterToReaders(P::new())
    }

    #[inline]
    fn hold(&self) -> impl Future<Output = impl Send> + Send {
        self.0.write()
    }

    #[inline]
    fn take(&self) -> impl Future<Output = impl Send> + Send {
        self.0.read()
    }
}

/// One waiter, by hand.
pub(crate) fn one<H: Handoff>(plan: Plan) -> Verdict {
    let lock = H::new();
    with_wakes(plan, 500_000, 1, |n, hand| {
        for _ in 0..n {
            let lock = black_box(&lock);
            let held = hand.ready(lock.hold());
            let mut next = pin!(lock.take());
            hand.park(next.as_mut());
            black_box(&held);
            drop(held);
            black_box(&hand.finish(next));
        }
    })
}

/// Several waiters, by hand: all get it before any lets go.
pub(crate) fn several<H: Handoff>(plan: Plan) -> Verdict {
    let lock = H::new();
    let mut waits: Vec<_> = (0..H::WAITERS).map(|_| Box::pin(None)).collect();
    let mut taken = Vec::with_capacity(H::WAITERS);
    with_wakes(plan, 100_000, H::WAITERS as u64, |n, hand| {
        for _ in 0..n {
            let lock = black_box(&lock);
            let held = hand.ready(lock.hold());
            for wait in &mut waits {
                wait.set(Some(lock.take()));
                hand.park(wait.as_mut().as_pin_mut().expect("just set"));
            }
            black_box(&held);
            drop(held);
            for wait in &mut waits {
                taken.push(hand.finish(wait.as_mut().as_pin_mut().expect("set above")));
                wait.set(None);
            }
            black_box(&taken).len();
            taken.clear();
        }
    })
}

/// What the body and the targets of the scheduled variants share.
struct Relay<H> {
    lock: H,
    /// The round for which targets may queue.
    go: AtomicU64,
    /// Targets that began to wait, and that have been through, over all rounds.
    parked: AtomicU64,
    through: AtomicU64,
}

/// Between tasks of one worker.
pub(crate) fn scheduled<R: Tasks, H: Handoff>(plan: Plan) -> Verdict {
    let rounds = plan.units(20_000, 20);
    R::run(repeat(plan, Judge::Wall, move || relay_round::<R, H>(rounds)))
}

async fn relay_round<R: Tasks, H: Handoff>(rounds: u64) -> Round {
    let zero = || AtomicU64::new(0);
    let relay = Arc::new(Relay { lock: H::new(), go: zero(), parked: zero(), through: zero() });
    let targets = (0..H::WAITERS).map(|_| R::spawn(target::<R, H>(relay.clone(), rounds)));
    let targets = targets.collect();
    let each = H::WAITERS as u64;
    // Relaxed everywhere: counters within one worker's thread; the lock orders what matters.
    for round in 1..=rounds {
        let held = relay.lock.hold().await;
        relay.go.store(round, Ordering::Relaxed);
        while relay.parked.load(Ordering::Relaxed) < round * each {
            R::yield_now().await;
        }
        expect_equal("through", relay.through.load(Ordering::Relaxed), (round - 1) * each)?;
        drop(held);
        while relay.through.load(Ordering::Relaxed) < round * each {
            R::yield_now().await;
        }
    }
    expect_equal("taken", join_sum::<R>(targets).await, rounds * each)?;
    Ok(rounds)
}

async fn target<R: Tasks, H: Handoff>(relay: Arc<Relay<H>>, rounds: u64) -> u64 {
    let mut taken = 0;
    for round in 1..=rounds {
        while relay.go.load(Ordering::Relaxed) < round {
            R::yield_now().await;
        }
        // Counted before the poll that queues: on one worker the body cannot run in between.
        relay.parked.fetch_add(1, Ordering::Relaxed);
        black_box(&relay.lock.take().await);
        relay.through.fetch_add(1, Ordering::Relaxed);
        taken += 1;
    }
    taken
}

/// `semaphore_ready`: acquire one of 64 permits, release.
pub(crate) fn permit_ready<P: Permits>(plan: Plan) -> Verdict {
    let permits = P::new(64);
    by_hand(plan, 2_000_000, |n, hand| {
        for _ in 0..n {
            black_box(&hand.ready(black_box(&permits).acquire()));
        }
    })
}

/// `semaphore_handoff`: the only permit goes from its holder to one that waits.
pub(crate) fn permit_handoff<P: Permits>(plan: Plan) -> Verdict {
    let permits = P::new(1);
    with_wakes(plan, 500_000, 1, |n, hand| {
        for _ in 0..n {
            let permits = black_box(&permits);
            let held = hand.ready(permits.acquire());
            let mut next = pin!(permits.acquire());
            hand.park(next.as_mut());
            black_box(&held);
            drop(held);
            black_box(&hand.finish(next));
        }
    })
}
