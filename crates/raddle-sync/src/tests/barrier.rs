//! The barrier: rounds, arrivals taken back, and hostile company.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use raddle_base::random::Rng;
use raddle_base::wait::WakeBatch;

use crate::tests::sequences::every_sequence;
use crate::tests::support::{Counter, Event, Polled, hostile, now, refusing, watchdog};
use crate::{Barrier, CancelExt, CancellationToken, OwnedBarrierWait};

#[test]
fn the_last_one_leads_and_the_others_are_woken_in_order() {
    let barrier = Barrier::new(3);
    for _ in 0..3 {
        let mut others = [(); 2].map(|()| Polled::pending(barrier.wait()));
        assert_eq!(barrier.waiting(), 2);
        assert!(now(barrier.wait()).is_leader());
        for other in others.iter_mut().rev() {
            assert_eq!(other.wakes(), 1);
            let result = other.ready();
            assert!(!result.is_leader() && !result.was_released());
        }
        assert_eq!(barrier.waiting(), 0);
    }
    assert!(now(Barrier::new(1).wait()).is_leader());
}

#[test]
fn a_cancelled_arrival_is_taken_back_unless_the_round_is_complete() {
    let barrier = Barrier::new(2);
    drop(barrier.wait());
    assert_eq!(barrier.waiting(), 0, "never polled, never arrived");
    drop(Polled::pending(barrier.wait()));
    assert_eq!(barrier.waiting(), 0, "taken back");
    let token = CancellationToken::new();
    let mut on_token = Polled::pending(barrier.wait().cancel_on(&token));
    token.cancel();
    assert!(on_token.ready().is_err());
    drop(on_token);
    assert_eq!(barrier.waiting(), 0, "taken back");
    let first = Polled::pending(barrier.wait());
    assert!(now(barrier.wait()).is_leader(), "the one that left did not count");
    drop(first);
    assert_eq!(barrier.waiting(), 0, "complete, so nothing to take back");
    let mut next = Polled::pending(barrier.wait());
    assert!(next.poll().is_pending());
    now(barrier.wait());
    next.ready();
}

#[test]
fn wakers_are_released_at_every_stage() {
    for stage in 0..4 {
        let barrier = Arc::new(Barrier::new(2));
        let mut wait = Polled::new(barrier.clone().wait_owned());
        let old = wait.counter.clone();
        if stage >= 1 {
            assert!(wait.poll().is_pending());
        }
        if stage >= 2 {
            wait.counter = Counter::new();
            assert!(wait.poll().is_pending());
            assert_eq!(Arc::strong_count(&old), 1);
        }
        if stage >= 3 {
            assert!(barrier.try_wait().unwrap().is_leader());
        }
        let new = wait.counter.clone();
        drop((wait, old));
        assert_eq!(Arc::strong_count(&new), 1);
        assert_eq!((barrier.waiting(), Arc::strong_count(&barrier)), (0, 1));
    }
}

#[test]
fn trying_completes_a_round_or_does_nothing() {
    let barrier = Barrier::new(3);
    assert!(barrier.try_wait().is_none());
    let mut one = Polled::pending(barrier.wait());
    assert!(barrier.try_wait().is_none());
    let mut two = Polled::pending(barrier.wait());
    assert!(barrier.try_wait().unwrap().is_leader());
    assert!(!one.ready().is_leader() && !two.ready().is_leader());
}

#[test]
fn those_who_wait_can_be_released_without_the_missing_ones() {
    let barrier = Barrier::new(3);
    assert_eq!(barrier.release_waiting(), 0);
    let mut waits = [(); 2].map(|()| Polled::pending(barrier.wait()));
    assert_eq!(barrier.release_waiting(), 2);
    for wait in &mut waits {
        assert!(wait.ready().was_released());
    }
    let mut next = [(); 2].map(|()| Polled::pending(barrier.wait()));
    assert!(now(barrier.wait()).is_leader());
    next.iter_mut().for_each(|wait| assert!(!wait.ready().was_released()));
}

#[test]
#[should_panic = "a barrier needs at least one party"]
fn a_barrier_of_zero_is_refused() {
    let _ = Barrier::new(0);
}

/// Two waits, an arrival, a release: every sequence of seven against a model.
#[test]
fn as_its_model() {
    every_sequence(6, 6, |sequence| {
        let barrier = Arc::new(Barrier::new(3));
        let mut slots: [Option<(Polled<OwnedBarrierWait>, Option<bool>)>; 2] = [None, None];
        for step in sequence {
            let waiting = slots.iter().flatten().filter(|slot| slot.1.is_none()).count();
            let mut ends = None;
            match step {
                0 | 1 => match slots[*step].take() {
                    None => {
                        let wait = Polled::pending(barrier.clone().wait_owned());
                        slots[*step] = Some((wait, None));
                    }
                    Some((mut wait, None)) => {
                        assert!(wait.poll().is_pending());
                        slots[*step] = Some((wait, None));
                    }
                    Some((mut wait, Some(released))) => {
                        assert_eq!(wait.ready().was_released(), released);
                    }
                },
                2 | 3 => slots[step - 2] = None,
                4 => {
                    assert_eq!(barrier.try_wait().is_some(), waiting == 2, "{sequence:?}");
                    ends = (waiting == 2).then_some(false);
                }
                _ => {
                    assert_eq!(barrier.release_waiting(), waiting, "{sequence:?}");
                    ends = Some(true);
                }
            }
            if ends.is_some() {
                slots.iter_mut().flatten().for_each(|slot| slot.1 = slot.1.or(ends));
            }
            let waiting = slots.iter().flatten().filter(|slot| slot.1.is_none()).count();
            assert_eq!(barrier.waiting(), waiting, "{sequence:?}");
        }
    });
}

#[test]
fn ten_thousand_arrive() {
    let barrier = Barrier::new(10_001);
    let mut waits: Vec<_> = (0..10_000).map(|_| Polled::pending(barrier.wait())).collect();
    assert!(now(barrier.wait()).is_leader());
    for wait in waits.iter_mut().rev() {
        assert_eq!(wait.wakes(), 1);
        wait.ready();
    }
}

#[test]
fn hostile_wakers_may_do_anything_and_strand_nobody() {
    watchdog(|| {
        let barrier = Arc::new(Barrier::new(4));
        let make = || {
            let barrier = Arc::downgrade(&barrier);
            hostile(move |_| {
                let Some(barrier) = barrier.upgrade() else { return };
                let mut wait = Polled::new(barrier.wait());
                let _ = wait.poll();
                drop(wait);
                barrier.try_wait();
            })
        };
        for round in 0..4 {
            let mut waits: Vec<_> =
                (0..3).map(|_| Polled::new(barrier.clone().wait_owned())).collect();
            for wait in &mut waits {
                let _ = wait.poll_with(&make());
                let _ = wait.poll_with(&make());
            }
            if round % 2 == 0 {
                barrier.release_waiting();
            }
        }
    });
    let barrier = Barrier::new(4);
    let mut first = Polled::pending(barrier.wait());
    let mut bad = Polled::new(barrier.wait());
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut last = Polled::pending(barrier.wait());
    assert!(catch_unwind(AssertUnwindSafe(|| now(barrier.wait()))).is_err());
    assert_eq!((first.wakes(), last.wakes()), (1, 1));
    first.ready();
    last.ready();
    bad.ready();
    assert_eq!(barrier.waiting(), 0);
}

/// A large round is let go in batches. Who gives up in between is not counted off again, neither
/// from nobody nor from those who have come for the next round.
#[test]
fn giving_up_while_the_round_is_let_go_changes_no_count() {
    const MANY: usize = 2 * WakeBatch::CAPACITY;
    for come in [false, true] {
        let barrier = Arc::new(Barrier::new(MANY + 1));
        let late = Arc::new(Mutex::new(Vec::new()));
        let next = Arc::new(Mutex::new(Vec::new()));
        let mut waits: Vec<_> =
            (0..MANY).map(|_| Polled::new(barrier.clone().wait_owned())).collect();
        let waker = {
            let (barrier, late, next) = (barrier.clone(), late.clone(), next.clone());
            hostile(move |event| {
                if event == Event::Wake {
                    if come {
                        next.lock().unwrap().push(Polled::pending(barrier.clone().wait_owned()));
                    }
                    drop(late.lock().unwrap().pop());
                }
            })
        };
        assert!(waits[0].poll_with(&waker).is_pending());
        waits[1..].iter_mut().for_each(|wait| assert!(wait.poll().is_pending()));
        late.lock().unwrap().extend(waits.pop());
        assert!(now(barrier.clone().wait_owned()).is_leader());
        assert_eq!(barrier.waiting(), usize::from(come));
        waits.iter_mut().for_each(|wait| assert!(!wait.ready().is_leader()));
    }
}

/// Random arrivals and departures: a round is over exactly when so many are there at once.
#[test]
fn arrivals_are_conserved() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let barrier = Arc::new(Barrier::new(5));
        let mut waits = VecDeque::new();
        for _ in 0..300 {
            match rng.below(3) {
                0 if !waits.is_empty() => {
                    let place = rng.below(waits.len() as u32) as usize;
                    drop(waits.remove(place));
                }
                _ if waits.len() == 4 => {
                    assert!(now(barrier.wait()).is_leader());
                    waits.drain(..).for_each(|mut wait: Polled<OwnedBarrierWait>| {
                        wait.ready();
                    });
                }
                _ => waits.push_back(Polled::pending(barrier.clone().wait_owned())),
            }
            assert_eq!(barrier.waiting(), waits.len());
        }
    }
}

#[test]
fn threads_meet_round_after_round() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 200;
    watchdog(|| {
        let shared = Arc::new((Barrier::new(THREADS), AtomicUsize::new(0), AtomicUsize::new(0)));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    for round in 1..=ROUNDS {
                        shared.1.fetch_add(1, SeqCst);
                        if shared.0.blocking_wait().is_leader() {
                            shared.2.fetch_add(1, SeqCst);
                        }
                        assert!(shared.1.load(SeqCst) >= round * THREADS);
                        shared.0.blocking_wait();
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(shared.2.load(SeqCst), ROUNDS, "one leader a round");
        assert_eq!(shared.0.blocking_wait_timeout(Duration::from_millis(1)), None);
        assert_eq!(shared.0.waiting(), 0);
    });
}
