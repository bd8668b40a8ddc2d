//! The pool: places are conserved on every way out, checks, orders, hostile objects.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use raddle_base::random::Rng;

use crate::pool::{
    AfterCancel, IdleOrder, ManageObject, NeverManageObject, ObjectStatus, Pool, PoolConfig, Pooled,
};
use crate::tests::support::{Polled, now, watchdog};

/// Numbers from 1 on. What happens when one is made or checked is set from outside.
#[derive(Default)]
struct Numbers {
    made: AtomicUsize,
    gone: AtomicUsize,
    fails: AtomicBool,
    hangs: AtomicBool,
    /// Numbers up to this one cannot be used again.
    stale: AtomicUsize,
}

impl Numbers {
    async fn hang(&self) {
        if self.hangs.load(SeqCst) {
            std::future::pending::<()>().await;
        }
    }
}

impl ManageObject for Arc<Numbers> {
    type Object = usize;
    type Error = &'static str;

    async fn create(&self) -> Result<usize, &'static str> {
        self.hang().await;
        match self.fails.load(SeqCst) {
            true => Err("no more numbers"),
            false => Ok(self.made.fetch_add(1, SeqCst) + 1),
        }
    }

    async fn is_recyclable(&self, number: &mut usize, _: &ObjectStatus) -> bool {
        self.hang().await;
        *number > self.stale.load(SeqCst)
    }

    fn on_detached(&self, _: &mut usize) {
        self.gone.fetch_add(1, SeqCst);
    }
}

type Numbered = Pool<Arc<Numbers>>;

fn numbers(max: usize, config: PoolConfig) -> (Arc<Numbers>, Numbered) {
    let numbers = Arc::new(Numbers::default());
    (numbers.clone(), Pool::with_config(max, numbers, config))
}

fn counts(pool: &Numbered) -> (usize, usize) {
    (pool.status().size, pool.status().idle)
}

#[test]
fn objects_are_made_when_needed_and_used_again() {
    let (_, pool) = numbers(2, PoolConfig::default());
    assert!(pool.try_get().is_none());
    let one = now(pool.get()).unwrap();
    let two = now(pool.get()).unwrap();
    let mut waits = [(); 2].map(|()| Polled::pending(pool.get()));
    drop(one);
    assert_eq!((waits[0].wakes(), waits[1].wakes()), (1, 0));
    let again = waits[0].ready().unwrap();
    assert_eq!((*again, again.status().recycle_count), (1, 1));
    assert_eq!(again.status().created, None, "no clock was read");
    let [_, second] = waits;
    drop(second);
    drop((two, again));
    assert_eq!(counts(&pool), (2, 2));
    assert_eq!(*pool.try_get().unwrap(), 1, "the one that came back last");
}

#[test]
fn idle_ones_are_used_in_the_order_that_was_asked_for() {
    for (order, expected) in [(IdleOrder::Lifo, [3, 2, 1]), (IdleOrder::Fifo, [1, 2, 3])] {
        let (_, pool) = numbers(3, PoolConfig { order, ..PoolConfig::default() });
        assert_eq!(now(pool.replenish_to(7)), Ok(3));
        assert_eq!(now(pool.replenish_to(3)), Ok(0));
        assert_eq!(pool.retain(|number, _| *number > 0), 0);
        let taken: Vec<_> = (0..3).map(|_| now(pool.get()).unwrap()).collect();
        assert!(taken.iter().zip(expected).all(|(number, expected)| **number == expected));
    }
}

#[test]
fn stale_ones_are_let_go_and_replaced() {
    let (numbers, pool) = numbers(3, PoolConfig::default());
    now(pool.replenish_to(3)).unwrap();
    numbers.stale.store(2, SeqCst);
    let three = now(pool.get()).unwrap();
    let four = now(pool.get()).unwrap();
    assert_eq!((*three, *four, numbers.gone.load(SeqCst)), (3, 4, 2));
    assert_eq!(counts(&pool), (2, 0));
    drop((three, four));
    assert_eq!(pool.retain(|number, _| *number == 3), 1);
    assert_eq!((counts(&pool), numbers.gone.load(SeqCst)), ((1, 1), 3));
}

#[test]
fn a_failure_leaves_the_place_free() {
    let (numbers, pool) = numbers(1, PoolConfig::default());
    numbers.fails.store(true, SeqCst);
    assert_eq!(now(pool.get()).unwrap_err(), "no more numbers");
    assert_eq!(now(pool.replenish_to(1)), Err("no more numbers"));
    assert_eq!(counts(&pool), (0, 0));
    numbers.fails.store(false, SeqCst);
    assert_eq!(now(pool.get()).unwrap().detach(), 1);
    assert_eq!((counts(&pool), numbers.gone.load(SeqCst)), ((0, 0), 1));
    drop(now(pool.get()).unwrap());
}

#[test]
fn a_checkout_that_is_dropped_anywhere_loses_no_place() {
    for (after_cancel, left) in [(AfterCancel::Detach, 0), (AfterCancel::Return, 1)] {
        let (numbers, pool) = numbers(1, PoolConfig { after_cancel, ..PoolConfig::default() });
        drop(pool.get());
        numbers.hangs.store(true, SeqCst);
        drop(Polled::pending(pool.get()));
        assert_eq!(counts(&pool), (0, 0), "while it was made");
        numbers.hangs.store(false, SeqCst);
        let out = now(pool.get()).unwrap();
        let granted = Polled::pending(pool.get());
        drop(out);
        assert_eq!(granted.wakes(), 1);
        drop(granted);
        numbers.hangs.store(true, SeqCst);
        drop(Polled::pending(pool.get()));
        assert_eq!(counts(&pool), (left, left), "while it was checked");
        numbers.hangs.store(false, SeqCst);
        drop(now(pool.get()).unwrap());
    }
}

#[test]
fn a_pool_of_given_objects() {
    let pool = Pool::bounded(2, NeverManageObject::new());
    let wait = Polled::pending(pool.get());
    assert_eq!(pool.extend(["a", "b", "c"]), 1, "one place is taken by who makes one, for ever");
    drop(wait);
    assert_eq!((pool.insert("d"), pool.insert("e")), (Ok(()), Err("e")));
    assert_eq!(*now(pool.get()).unwrap(), "d");
    let open: Pool<NeverManageObject<u8>> = Pool::unbounded(NeverManageObject::default());
    assert_eq!(open.extend(0..100), 100);
    let out = open.try_get().unwrap();
    drop(open);
    assert_eq!(*out, 99, "it outlives its pool");
}

#[test]
#[should_panic = "a pool needs room for an object"]
fn a_pool_without_room_is_refused() {
    let _ = Pool::bounded(0, NeverManageObject::<u8>::new());
}

#[test]
fn times_are_kept_when_asked_for() {
    let (_, pool) = numbers(1, PoolConfig { keep_times: true, ..PoolConfig::default() });
    drop(now(pool.get()).unwrap());
    let status = now(pool.get()).unwrap().status();
    assert!(status.last_used >= status.created && status.created.is_some());
}

/// An object whose destructor uses the pool it came from.
struct Reenters(Option<Pool<NeverManageObject<Reenters>>>);

impl Drop for Reenters {
    fn drop(&mut self) {
        if let Some(pool) = self.0.take() {
            pool.status();
            drop(pool.try_get());
        }
    }
}

#[test]
fn destructors_and_callbacks_run_under_no_lock() {
    watchdog(|| {
        let pool = Pool::bounded(3, NeverManageObject::new());
        let make = || Reenters(Some(pool.clone()));
        pool.extend((0..3).map(|_| make()));
        assert!(pool.insert(make()).is_err());
        drop(pool.try_get().unwrap().detach());
        assert_eq!(pool.retain(|_, _| pool.status().size == 0), 2);
        assert_eq!(pool.status().size, 0);
        pool.extend([make()]);
        let panics = catch_unwind(AssertUnwindSafe(|| pool.retain(|_, _| panic!("asked"))));
        assert!(panics.is_err());
    });
}

/// Random checkouts, dropped at any stage: never more objects than places, and all come back.
#[test]
fn places_are_conserved() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let (numbers, pool) = numbers(3, PoolConfig::default());
        let mut waits: Vec<Polled<_>> = Vec::new();
        let mut out: Vec<Pooled<_>> = Vec::new();
        for _ in 0..200 {
            match rng.below(7) {
                0 | 1 => {
                    let pool = pool.clone();
                    waits.push(Polled::new(async move { pool.get().await }));
                }
                2 | 3 if !waits.is_empty() => {
                    let place = rng.below(waits.len() as u32) as usize;
                    if let std::task::Poll::Ready(object) = waits[place].poll() {
                        out.extend(object.ok());
                        drop(waits.swap_remove(place));
                    }
                }
                4 if !waits.is_empty() => drop(waits.swap_remove(0)),
                5 => drop(out.pop()),
                _ => {
                    numbers.fails.store(rng.below(4) == 0, SeqCst);
                    numbers.hangs.store(rng.below(4) == 0, SeqCst);
                    numbers.stale.store(rng.below(20) as usize, SeqCst);
                }
            }
            let status = pool.status();
            assert!(status.size <= 3 && status.idle + out.len() <= status.size, "{status:?}");
        }
        drop((waits, out));
        numbers.hangs.store(false, SeqCst);
        numbers.fails.store(false, SeqCst);
        let all: Vec<_> = (0..3).map(|_| now(pool.get()).unwrap()).collect();
        assert_eq!((all.len(), counts(&pool)), (3, (3, 0)));
    }
}

#[test]
fn threads_share_a_pool() {
    watchdog(|| {
        let (numbers, pool) = numbers(2, PoolConfig::default());
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let pool = pool.clone();
                std::thread::spawn(move || {
                    for _ in 0..500 {
                        drop(pool.blocking_get().unwrap());
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(numbers.made.load(SeqCst) <= 2);
        let _both = (pool.blocking_get().unwrap(), pool.blocking_get().unwrap());
        assert!(pool.blocking_get_timeout(Duration::from_millis(1)).is_none());
    });
}
