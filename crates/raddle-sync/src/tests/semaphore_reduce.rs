//! The semaphore beyond taking and returning: reducing with a debt, draining, blocking, its model.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use raddle_base::random::Rng;

use crate::tests::sequences::every_sequence;
use crate::tests::support::{Polled, now, watchdog};
use crate::{Acquire, OwnedSemaphorePermit, Semaphore};

#[test]
fn what_is_taken_away_while_in_use_is_a_debt_that_is_paid_first() {
    let semaphore = Semaphore::new(4);
    let mut held = semaphore.try_acquire_many(3).unwrap();
    semaphore.reduce_permits(3);
    assert_eq!((semaphore.available_permits(), semaphore.owed_permits()), (0, 2));
    let mut waits = [(); 2].map(|()| Polled::pending(semaphore.acquire()));
    drop(held.split(2));
    assert_eq!(semaphore.owed_permits(), 0);
    assert_eq!(waits[0].wakes(), 0, "the debt came first");
    semaphore.add_permits(1);
    assert_eq!((waits[0].wakes(), waits[1].wakes()), (1, 0));
    drop(held);
    waits.iter_mut().for_each(|wait| wait.ready().unwrap().forget());
    assert_eq!(semaphore.available_permits(), 0);
}

#[test]
fn the_head_keeps_what_it_has_collected() {
    let semaphore = Semaphore::new(2);
    let mut head = Polled::pending(semaphore.acquire_many(3));
    semaphore.reduce_permits(1);
    semaphore.add_permits(1);
    assert_eq!((head.wakes(), semaphore.owed_permits()), (0, 0));
    semaphore.reduce_permits(2);
    drop(head);
    assert_eq!((semaphore.available_permits(), semaphore.owed_permits()), (0, 0), "paid by it");
    head = Polled::pending(semaphore.acquire_many(3));
    semaphore.add_permits(3);
    head.ready().unwrap().forget();
}

#[test]
fn zero_permits_are_free_in_debt_and_closing_keeps_the_count() {
    let semaphore = Semaphore::new(1);
    let held = semaphore.try_acquire().unwrap();
    semaphore.reduce_permits(2);
    drop(now(semaphore.acquire_many(0)).unwrap());
    assert!(semaphore.try_acquire().is_err());
    semaphore.close();
    drop(held);
    assert_eq!((semaphore.available_permits(), semaphore.owed_permits()), (0, 1));
    semaphore.add_permits(2);
    assert_eq!((semaphore.drain_permits(), semaphore.drain_permits()), (1, 0));
}

#[test]
fn too_large_a_debt_is_refused_and_changes_nothing() {
    let semaphore = Semaphore::new(1);
    semaphore.reduce_permits(Semaphore::MAX_PERMITS);
    assert_eq!(semaphore.owed_permits(), Semaphore::MAX_PERMITS - 1);
    for count in [2, usize::MAX] {
        let result = catch_unwind(AssertUnwindSafe(|| semaphore.reduce_permits(count)));
        assert!(result.is_err());
        assert_eq!(semaphore.owed_permits(), Semaphore::MAX_PERMITS - 1);
    }
    semaphore.add_permits(Semaphore::MAX_PERMITS);
    assert_eq!(semaphore.available_permits(), 1);
}

/// Returning, reducing, closing and two waits for one and for two: every sequence against a count.
#[test]
fn as_its_model() {
    every_sequence(8, 5, |sequence| {
        let semaphore = Semaphore::new(1);
        let mut free = 1_isize;
        // What each waits for, and how much it has; in the order of the line.
        let mut line: Vec<(Polled<Acquire<'_>>, isize, isize)> = Vec::new();
        for step in sequence {
            match step {
                0 | 1 => {
                    let need = 1 + *step as isize;
                    let mut wait = Polled::new(semaphore.acquire_many(need as u32));
                    let ready = wait.poll();
                    let waits = line.iter().any(|wait| wait.1 > wait.2);
                    if free >= need && !waits {
                        free -= need;
                        let _ = ready.map(|permit| permit.unwrap().forget());
                    } else {
                        assert!(ready.is_pending(), "{sequence:?}");
                        line.push((wait, need, 0));
                    }
                }
                2 => {
                    semaphore.add_permits(1);
                    free += 1;
                }
                3 => {
                    semaphore.add_permits(2);
                    free += 2;
                }
                4 => {
                    semaphore.reduce_permits(1);
                    free -= 1;
                }
                5 if !line.is_empty() => free += line.remove(0).2,
                6 if !line.is_empty() => free += line.pop().unwrap().2,
                _ => {}
            }
            // First come first served.
            for (wait, need, got) in &mut line {
                let given = (*need - *got).min(free.max(0));
                *got += given;
                free -= given;
                assert_eq!(wait.wakes(), usize::from(need == got), "{sequence:?}");
            }
            assert_eq!(semaphore.available_permits() as isize, free.max(0), "{sequence:?}");
            assert_eq!(semaphore.owed_permits() as isize, -free.min(0), "{sequence:?}");
        }
    });
}

/// Random operations with reductions: permits are conserved.
#[test]
fn permits_are_conserved_with_reductions() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let semaphore = Arc::new(Semaphore::new(4));
        let mut total = 4_isize;
        let mut waits = Vec::new();
        let mut held: Vec<OwnedSemaphorePermit> = Vec::new();
        for _ in 0..300 {
            match rng.below(6) {
                0 => {
                    waits.push(Polled::new(semaphore.clone().acquire_many_owned(1 + rng.below(3))))
                }
                1 | 2 if !waits.is_empty() => {
                    let place = rng.below(waits.len() as u32) as usize;
                    if let std::task::Poll::Ready(permit) = waits[place].poll() {
                        held.push(permit.unwrap());
                        drop(waits.swap_remove(place));
                    }
                }
                3 if !waits.is_empty() => drop(waits.swap_remove(0)),
                4 if !held.is_empty() => drop(held.pop()),
                5 if total > -4 => {
                    semaphore.reduce_permits(1);
                    total -= 1;
                }
                _ => {
                    semaphore.add_permits(1);
                    total += 1;
                }
            }
        }
        drop((waits, held));
        let (free, owed) = (semaphore.available_permits(), semaphore.owed_permits());
        assert_eq!(free as isize - owed as isize, total);
    }
}

#[test]
fn threads_block_with_and_without_a_limit() {
    watchdog(|| {
        let semaphore = Arc::new(Semaphore::new(2));
        let all = semaphore.blocking_acquire_many(2).unwrap();
        let limit = Duration::from_millis(1);
        assert!(semaphore.blocking_acquire_timeout(limit).is_none());
        assert!(semaphore.blocking_acquire_many_timeout(2, limit).is_none());
        let other = std::thread::spawn({
            let semaphore = semaphore.clone();
            move || drop(semaphore.blocking_acquire().unwrap())
        });
        drop(all);
        other.join().unwrap();
        assert_eq!(semaphore.available_permits(), 2);
        semaphore.close();
        assert!(semaphore.blocking_acquire_timeout(limit).unwrap().is_err());
    });
}

#[test]
fn a_semaphore_is_small() {
    assert!(size_of::<Semaphore>() <= 24, "{}", size_of::<Semaphore>());
}
