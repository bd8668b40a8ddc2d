//! The mutex: overtaking and its bound, the fair variant, guards, giving up, hostile company.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use raddle_base::clock::Instant;

use super::raw::PATIENCE;
use super::{Guard, Lock, MappedGuard};
use crate::tests::support::{Polled, hostile, now, refusing, watchdog};
use crate::{CancelExt, CancellationToken, Mutex};

type Shared = Arc<Mutex<u32>>;
type Waiting = Polled<Lock<Shared>>;

fn waiting(lock: &Shared) -> Waiting {
    Polled::pending(lock.clone().lock_owned())
}

fn is_idle<T: ?Sized>(lock: &Mutex<T>) -> bool {
    lock.raw.state() == (false, false, false)
}

#[test]
fn one_at_a_time() {
    let mut lock = Mutex::new(1);
    {
        let mut guard = now(lock.lock());
        *guard += 1;
        assert!(lock.try_lock().is_none());
        assert_eq!(format!("{guard} {guard:?}"), "2 2");
        assert_eq!(format!("{lock:?}"), "Mutex { data: <locked>, waiters: false }");
        assert_eq!(size_of_val(*Guard::mutex(&guard)), size_of::<Mutex<i32>>());
    }
    assert_eq!(format!("{lock:?}"), "Mutex { data: 2, waiters: false }");
    *lock.get_mut() += 1;
    assert_eq!(lock.into_inner(), 3);
    assert_eq!(*Mutex::<u8>::default().try_lock().unwrap(), 0);
    assert_eq!(*Mutex::from(3).try_lock().unwrap(), 3);
}

#[test]
fn guards_of_parts_release_the_whole() {
    let lock = Arc::new(Mutex::new((1, String::from("two"))));
    let guard = Guard::try_map(now(lock.lock()), |_| None::<&mut u8>).unwrap_err();
    let mut guard = Guard::map(guard, |both| both.1.as_mut_str());
    guard.make_ascii_uppercase();
    let guard = MappedGuard::try_map(guard, |text| text.get_mut(9..)).unwrap_err();
    let guard = MappedGuard::try_map(guard, |text| text.get_mut(1..)).unwrap();
    assert_eq!(format!("{guard} {guard:?}"), "WO \"WO\"");
    assert!(lock.try_lock().is_none());
    drop(guard);
    let guard = now(lock.clone().lock_owned());
    assert!(Arc::ptr_eq(Guard::mutex(&guard), &lock));
    let mut guard = MappedGuard::map(Guard::map(guard, |both| &mut both.0), |number| number);
    *guard = 7;
    let weak = Arc::downgrade(&lock);
    drop(lock);
    assert_eq!(weak.strong_count(), 1);
    drop(guard);
    assert_eq!(weak.strong_count(), 0);
    let lock = Mutex::new(1);
    let guard = lock.try_lock().unwrap();
    let mapped = AssertUnwindSafe(|| Guard::map(guard, |_| -> &mut u8 { panic!("no part") }));
    assert!(catch_unwind(mapped).is_err());
    assert!(lock.try_lock().is_some());
}

#[test]
fn a_release_wakes_one_and_whoever_comes_first_takes_the_lock() {
    let lock: Shared = Arc::new(Mutex::new(0));
    let guard = now(lock.lock());
    let (mut first, mut second) = (waiting(&lock), waiting(&lock));
    drop(guard);
    assert_eq!((first.wakes(), second.wakes()), (1, 0));
    let barger = lock.try_lock().expect("the lock is free");
    assert!(first.poll().is_pending(), "back to the front");
    drop(barger);
    assert_eq!((first.wakes(), second.wakes()), (2, 0));
    let guard = first.ready();
    assert!(second.poll().is_pending());
    drop(guard);
    drop(second.ready());
    assert!(is_idle(&lock));
}

#[test]
fn while_one_is_on_its_way_releases_wake_nobody() {
    let lock: Shared = Arc::new(Mutex::new(0));
    let guard = now(lock.lock());
    let (mut first, mut second) = (waiting(&lock), waiting(&lock));
    drop(guard);
    for _ in 0..100 {
        drop(lock.try_lock().unwrap());
    }
    assert_eq!((first.wakes(), second.wakes()), (1, 0));
    drop(first.ready());
    drop(second.ready());
    assert!(is_idle(&lock));
}

#[test]
fn one_that_was_passed_over_for_long_is_handed_the_lock_next() {
    let lock: Shared = Arc::new(Mutex::new(0));
    let mut held = lock.try_lock();
    let mut first = waiting(&lock);
    let begin = Instant::now();
    let mut rounds = 0;
    // Passed over again and again, it is handed the lock by the release after its patience ended.
    loop {
        drop(held.take());
        let Some(barger) = lock.try_lock() else { break };
        held = Some(barger);
        assert!(first.poll().is_pending());
        rounds += 1;
    }
    assert!(begin.elapsed() >= PATIENCE && rounds >= 2, "{rounds}");
    assert!(lock.try_lock().is_none(), "it is the waiter's, polled or not");
    drop(first.ready());
    assert!(is_idle(&lock));
}

/// Brings the first waiter to ask for a hand-over while `held` is held.
fn until_it_asks<'a>(lock: &'a Shared, first: &mut Waiting) -> crate::MutexGuard<'a, u32> {
    let mut held = lock.try_lock().unwrap();
    assert!(first.poll().is_pending());
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        std::hint::spin_loop();
    }
    drop(held);
    held = lock.try_lock().unwrap();
    assert!(first.poll().is_pending());
    held
}

#[test]
fn one_that_asked_and_gave_up_leaves_nothing_behind() {
    let lock: Shared = Arc::new(Mutex::new(0));
    let guard = now(lock.lock());
    let (mut first, mut second) = (waiting(&lock), waiting(&lock));
    drop(guard);
    let guard = until_it_asks(&lock, &mut first);
    drop(first);
    drop(guard);
    assert!(lock.try_lock().is_some(), "nobody asks any more");
    drop(second.ready());
    assert!(is_idle(&lock));
    // The next time it is handed over, and passes on what it was given when dropped.
    let guard = now(lock.lock());
    let (mut first, mut second) = (waiting(&lock), waiting(&lock));
    drop(guard);
    let guard = until_it_asks(&lock, &mut first);
    drop(guard);
    assert!(lock.try_lock().is_none());
    drop(first);
    drop(second.ready());
    assert!(is_idle(&lock));
}

#[test]
fn one_that_was_woken_and_gives_up_wakes_the_next() {
    let lock: Shared = Arc::new(Mutex::new(0));
    let guard = now(lock.lock());
    let (first, second, mut third) = (waiting(&lock), waiting(&lock), waiting(&lock));
    drop(guard);
    drop(first);
    assert_eq!((second.wakes(), third.wakes()), (1, 0));
    let barger = lock.try_lock().unwrap();
    drop(second);
    assert_eq!(third.wakes(), 0, "there is nothing to try");
    drop(barger);
    assert_eq!(third.wakes(), 1);
    drop(third.ready());
    assert!(is_idle(&lock));
}

#[test]
fn of_two_waits_in_one_task_any_may_take_a_free_lock() {
    let lock: Shared = Arc::new(Mutex::new(0));
    let guard = now(lock.lock());
    let (first, mut second) = (waiting(&lock), waiting(&lock));
    drop(guard);
    assert_eq!(first.wakes(), 1);
    drop(second.ready());
    drop(first);
    assert!(is_idle(&lock));
}

#[test]
fn the_fair_one_is_handed_over_first_come_first_served() {
    let lock: Shared = Arc::new(Mutex::fair(0));
    let guard = now(lock.lock());
    let mut all: Vec<_> = (0..4).map(|_| waiting(&lock)).collect();
    drop(guard);
    for i in 0..4 {
        assert_eq!(all.iter().map(Polled::wakes).sum::<usize>(), i + 1);
        assert!(lock.try_lock().is_none(), "nobody overtakes");
        drop(all[i].ready());
    }
    assert!(is_idle(&lock));
    let guard = now(lock.lock());
    let (first, mut second) = (waiting(&lock), waiting(&lock));
    drop(guard);
    assert!(second.poll().is_pending(), "it is the first one's, polled or not");
    drop(first);
    drop(second.ready());
}

#[test]
fn tokens_end_waits_and_take_nothing() {
    let (lock, token) = (Mutex::new(0), CancellationToken::new());
    let guard = now(lock.lock());
    let mut wait = Polled::pending(lock.lock().cancel_on(&token));
    token.cancel();
    drop(guard);
    assert!(wait.ready().is_ok(), "the lock came first to the wait");
    assert!(now(lock.lock().cancel_on(&token)).is_err());
    assert!(is_idle(&lock));
}

#[test]
fn blocking_and_timed() {
    watchdog(|| {
        let lock = Arc::new(Mutex::new(0));
        let guard = lock.blocking_lock();
        assert!(lock.blocking_lock_timeout(Duration::from_millis(1)).is_none());
        let theirs = lock.clone();
        let thread = std::thread::spawn(move || *theirs.blocking_lock_owned() += 1);
        drop(guard);
        thread.join().unwrap();
        assert_eq!(*lock.blocking_lock_timeout(Duration::ZERO).unwrap(), 1);
    });
}

#[test]
fn hostile_wakers_may_do_anything() {
    watchdog(|| {
        for make_lock in [Mutex::new, Mutex::fair] {
            let lock = Arc::new(make_lock(0));
            let make = || {
                let lock = Arc::downgrade(&lock);
                hostile(move |_| {
                    let Some(lock) = lock.upgrade() else { return };
                    let mut wait = Polled::new(lock.lock());
                    drop(wait.poll_with(Waker::noop()));
                    drop(lock.try_lock());
                    drop(wait);
                })
            };
            for round in 0..6 {
                let guard = (round % 2 == 0).then(|| now(lock.lock()));
                let mut all: Vec<_> = (0..3).map(|_| Polled::new(lock.lock())).collect();
                for _ in 0..2 {
                    all.iter_mut().for_each(|one| drop(one.poll_with(&make())));
                }
                drop(guard);
                drop(all);
                assert!(is_idle(&lock));
            }
        }
    });
}

#[test]
fn a_panicking_waker_strands_nobody() {
    for make_lock in [Mutex::new, Mutex::fair] {
        let lock: Shared = Arc::new(make_lock(0));
        let guard = now(lock.lock());
        let mut bad = Polled::new(lock.lock());
        assert!(bad.poll_with(&refusing()).is_pending());
        let mut next = waiting(&lock);
        assert!(catch_unwind(AssertUnwindSafe(|| drop(guard))).is_err());
        drop(bad);
        drop(next.ready());
        assert!(is_idle(&lock));
    }
}

#[test]
fn ten_thousand_wait_at_once() {
    for make_lock in [Mutex::new, Mutex::fair] {
        let lock: Shared = Arc::new(make_lock(0));
        let guard = now(lock.lock());
        let mut all: Vec<_> = (0..10_000).map(|_| waiting(&lock)).collect();
        drop(guard);
        all.iter_mut().for_each(|one| *one.ready() += 1);
        assert_eq!(*lock.try_lock().unwrap(), 10_000);
        assert!(is_idle(&lock));
        assert!(all.iter().all(|one| one.wakes() == 1));
    }
}

#[test]
fn threads_count_under_it() {
    const ROUNDS: usize = if cfg!(miri) { 20 } else { 5_000 };
    watchdog(|| {
        for make_lock in [Mutex::new, Mutex::fair] {
            let lock = Arc::new(make_lock(0_usize));
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let lock = lock.clone();
                    std::thread::spawn(move || {
                        (0..ROUNDS).for_each(|_| *lock.blocking_lock() += 1);
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(*lock.try_lock().unwrap(), 4 * ROUNDS);
            assert!(is_idle(&lock));
        }
    });
}

#[test]
fn sizes_and_auto_traits() {
    fn shared<T: Send + Sync>(_: &T) {}
    assert_eq!(size_of::<Mutex<()>>(), 16);
    assert_eq!(size_of::<Mutex<u64>>(), 24);
    let lock = Arc::new(Mutex::new(1));
    shared(&lock);
    shared(&(lock.lock(), lock.clone().lock_owned()));
    shared(&lock.try_lock());
    shared(&lock.clone().try_lock_owned());
    // Data that is not `Sync` may be locked from any thread.
    shared(&Mutex::new(std::cell::Cell::new(1)));
    let unsized_lock: &Mutex<[u8]> = &Mutex::new([1, 2, 3]);
    assert_eq!(unsized_lock.try_lock().unwrap().len(), 3);
}
