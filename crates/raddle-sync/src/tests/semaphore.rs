//! The semaphore: order, weights, giving up, closing, and hostile company.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Waker;

use raddle_base::random::Rng;
use raddle_base::wait::WakeBatch;

use crate::tests::support::{Polled, hostile, now, refusing, watchdog};
use crate::{Acquire, AcquireOwned, Semaphore, TryAcquireError, Wait};

const MANY: usize = 3 * WakeBatch::CAPACITY + 1;

fn waiting(semaphore: &Semaphore, count: usize) -> Vec<Polled<Acquire<'_>>> {
    (0..count).map(|_| Polled::pending(semaphore.acquire())).collect()
}

#[test]
fn permits_are_counted() {
    let semaphore = Arc::new(Semaphore::new(5));
    let mut two = now(semaphore.acquire_many(2)).unwrap();
    let one = semaphore.try_acquire().unwrap();
    let owned = now(semaphore.clone().acquire_many_owned(2)).unwrap();
    assert_eq!(semaphore.available_permits(), 0);
    assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
    two.merge(one);
    assert_eq!(two.num_permits(), 3);
    let mut owned = owned;
    let split = owned.split(1).unwrap();
    assert!(owned.split(2).is_none());
    drop((split, two));
    assert_eq!(semaphore.available_permits(), 4);
    owned.forget();
    assert_eq!(semaphore.available_permits(), 4);
    assert_eq!(semaphore.forget_permits(3), 3);
    assert_eq!(semaphore.forget_permits(3), 1);
    semaphore.add_permits(1);
    drop(semaphore.clone().try_acquire_owned().unwrap());
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
fn zero_permits_are_always_free() {
    let semaphore = Semaphore::new(0);
    assert_eq!(now(semaphore.acquire_many(0)).unwrap().num_permits(), 0);
    semaphore.close();
    assert!(now(semaphore.acquire_many(0)).is_err());
}

#[test]
fn too_many_permits_are_refused_and_change_nothing() {
    let semaphore = Semaphore::new(3);
    for count in [Semaphore::MAX_PERMITS - 2, usize::MAX] {
        let result = catch_unwind(AssertUnwindSafe(|| semaphore.add_permits(count)));
        assert!(result.is_err());
        assert_eq!(semaphore.available_permits(), 3);
    }
    semaphore.add_permits(Semaphore::MAX_PERMITS - 3);
    assert_eq!(semaphore.available_permits(), Semaphore::MAX_PERMITS);
    let other = Semaphore::new(1);
    let mine = Semaphore::new(1);
    let mut permit = mine.try_acquire().unwrap();
    let foreign = other.try_acquire().unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| permit.merge(foreign))).is_err());
    assert_eq!(other.available_permits(), 1, "the refused permit came back");
}

#[test]
fn first_come_first_served_also_for_heavy_ones() {
    let semaphore = Semaphore::new(1);
    let mut heavy = Polled::pending(semaphore.acquire_many(3));
    let mut light = Polled::pending(semaphore.acquire());
    assert_eq!(semaphore.available_permits(), 0, "the head has collected the free one");
    assert!(semaphore.try_acquire().is_err(), "nobody overtakes");
    semaphore.add_permits(1);
    assert_eq!((heavy.wakes(), light.wakes()), (0, 0));
    semaphore.add_permits(2);
    assert_eq!((heavy.wakes(), light.wakes()), (1, 1));
    assert_eq!(heavy.ready().unwrap().num_permits(), 3);
    drop(light.ready().unwrap());
    assert_eq!(semaphore.available_permits(), 4);
}

#[test]
fn a_cancelled_head_lets_those_behind_it_in() {
    let semaphore = Semaphore::new(2);
    let heavy = Polled::pending(semaphore.acquire_many(3));
    let mut others = waiting(&semaphore, 2);
    drop(heavy);
    for other in &mut others {
        assert_eq!(other.wakes(), 1, "what the head had collected passes on");
        other.ready().unwrap().forget();
    }
    assert_eq!(semaphore.available_permits(), 0);
    // A second heavy one stays where it is while the one before it leaves.
    let first = Polled::pending(semaphore.acquire_many(2));
    let mut second = Polled::pending(semaphore.acquire_many(2));
    semaphore.add_permits(1);
    drop(first);
    assert!(second.poll().is_pending());
    semaphore.add_permits(1);
    assert_eq!(second.ready().unwrap().num_permits(), 2);
}

#[test]
fn of_two_waits_in_one_task_the_granted_one_holds_until_dropped() {
    let semaphore = Semaphore::new(0);
    let (first, mut second) =
        (Polled::pending(semaphore.acquire()), Polled::pending(semaphore.acquire()));
    semaphore.add_permits(1);
    assert!(second.poll().is_pending(), "the permit is the first one's, polled or not");
    assert_eq!(first.wakes(), 1);
    drop(first);
    assert_eq!(second.wakes(), 1, "and passes on the moment that one is dropped");
    drop(second.ready().unwrap());
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
fn many_waiters_are_served_by_one_release_in_order() {
    let semaphore = Semaphore::new(0);
    let mut all = waiting(&semaphore, MANY);
    semaphore.add_permits(MANY - 1);
    assert_eq!(all.iter().map(Polled::wakes).sum::<usize>(), MANY - 1);
    assert!(all.pop().unwrap().poll().is_pending());
    for mut one in all {
        one.ready().unwrap().forget();
    }
    assert_eq!(semaphore.available_permits(), 0);
}

#[test]
fn closing_ends_all_waits_and_keeps_what_was_given() {
    let semaphore = Semaphore::new(1);
    let held = semaphore.try_acquire().unwrap();
    let mut granted = Polled::pending(semaphore.acquire());
    semaphore.add_permits(1);
    let mut all = waiting(&semaphore, MANY);
    semaphore.close();
    semaphore.close();
    assert!(semaphore.is_closed());
    for one in &mut all {
        assert_eq!(one.wakes(), 1);
        assert!(one.ready().is_err());
    }
    assert!(now(semaphore.acquire()).is_err());
    assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::Closed);
    drop(granted.ready().expect("granted before the end"));
    drop(held);
    assert_eq!(semaphore.available_permits(), 2);
}

#[test]
fn what_the_head_had_collected_comes_back_on_close() {
    let semaphore = Semaphore::new(2);
    let heavy = Polled::pending(semaphore.acquire_many(3));
    semaphore.close();
    assert_eq!(semaphore.available_permits(), 2);
    drop(heavy);
    assert_eq!(semaphore.available_permits(), 2);
}

#[test]
fn hostile_wakers_may_do_anything() {
    watchdog(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let make = || {
            let semaphore = Arc::downgrade(&semaphore);
            hostile(move |_| {
                let Some(semaphore) = semaphore.upgrade() else { return };
                let mut wait = Polled::new(semaphore.acquire());
                let _ = wait.poll_with(Waker::noop());
                semaphore.add_permits(1);
                drop(wait);
                let _ = semaphore.try_acquire();
                semaphore.forget_permits(1);
            })
        };
        for round in 0..4 {
            let mut all: Vec<_> =
                (0..2).map(|_| Polled::new(semaphore.clone().acquire_owned())).collect();
            for one in &mut all {
                let _ = one.poll_with(&make());
                let _ = one.poll_with(&make());
            }
            if round % 2 == 0 {
                semaphore.add_permits(1);
            }
            drop(all);
        }
        let mut last = Polled::new(semaphore.acquire());
        let _ = last.poll_with(&make());
        semaphore.close();
    });
}

#[test]
fn a_panicking_waker_strands_nobody() {
    let semaphore = Semaphore::new(0);
    let mut before = waiting(&semaphore, 1);
    let mut bad = Polled::new(semaphore.acquire());
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut after = waiting(&semaphore, MANY);
    let count = MANY + 2;
    assert!(catch_unwind(AssertUnwindSafe(|| semaphore.add_permits(count))).is_err());
    for one in before.iter_mut().chain(&mut after) {
        assert_eq!(one.wakes(), 1);
        one.ready().unwrap().forget();
    }
    drop(bad);
    assert_eq!(semaphore.available_permits(), 1);
}

/// Random operations with waits that are dropped at any stage: permits are conserved, and nobody
/// waits for what is free.
#[test]
fn permits_are_conserved() {
    for capacity in [1, 2, 8] {
        for seed in 0..50 {
            conserve(capacity, &mut Rng::new(seed));
        }
    }
}

fn conserve(capacity: usize, rng: &mut Rng) {
    let semaphore = Arc::new(Semaphore::new(capacity));
    let mut waits: Vec<Polled<AcquireOwned>> = Vec::new();
    let mut held = Vec::new();
    for _ in 0..400 {
        match rng.below(6) {
            0 | 1 => {
                let count = 1 + rng.below(capacity as u32);
                waits.push(Polled::new(semaphore.clone().acquire_many_owned(count)));
            }
            2 | 3 if !waits.is_empty() => {
                let i = rng.below(waits.len() as u32) as usize;
                if let std::task::Poll::Ready(permit) = waits[i].poll() {
                    held.push(permit.unwrap());
                    drop(waits.swap_remove(i));
                }
            }
            4 if !waits.is_empty() => {
                let i = rng.below(waits.len() as u32) as usize;
                drop(waits.swap_remove(i));
            }
            _ if !held.is_empty() => {
                let i = rng.below(held.len() as u32) as usize;
                drop(held.swap_remove(i));
            }
            _ => {}
        }
        let out: usize = held.iter().map(|permit| permit.num_permits()).sum();
        assert!(out + semaphore.available_permits() <= capacity);
    }
    drop(waits);
    let out: usize = held.iter().map(|permit| permit.num_permits()).sum();
    assert_eq!(out + semaphore.available_permits(), capacity);
}

#[test]
fn threads_share_one_permit_as_a_lock() {
    const THREADS: usize = 4;
    const ROUNDS: usize = if cfg!(miri) { 20 } else { 5_000 };
    watchdog(|| {
        let shared = Arc::new((Semaphore::new(1), AtomicUsize::new(0)));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    for _ in 0..ROUNDS {
                        let permit = shared.0.acquire().wait().unwrap();
                        let seen = shared.1.load(SeqCst);
                        shared.1.store(seen + 1, SeqCst);
                        drop(permit);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(shared.1.load(SeqCst), THREADS * ROUNDS);
    });
}

#[test]
fn futures_are_send_and_sync() {
    fn send_sync<T: Send + Sync>(_: &T) {}
    let semaphore = Arc::new(Semaphore::new(1));
    send_sync(&semaphore.acquire());
    send_sync(&semaphore.clone().acquire_owned());
    send_sync(&semaphore.try_acquire());
}
