//! The cell that is written once: retries, one round of wakes, destructors, and its model.

use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use crate::tests::sequences::every_sequence;
use crate::tests::support::{Counter, Polled, now, watchdog};
use crate::{CancelExt, CancellationToken, Notify, OnceCell, SetError};

#[test]
fn the_value_is_made_once() {
    let cell = OnceCell::new();
    assert_eq!((cell.get(), cell.is_initialized()), (None, false));
    assert_eq!(now(cell.get_or_init(|| ready(1))), &1);
    assert_eq!(now(cell.get_or_init(|| ready(2))), &1);
    assert_eq!(now(cell.get_or_try_init(|| ready(Err(())))), Ok(&1));
    assert_eq!(now(cell.wait()), &1);
    assert_eq!(cell.set(3), Err(SetError::AlreadyInitializedError(3)));
    assert_eq!(now(cell.try_insert(4)), Err((&1, 4)));
    assert_eq!(cell.clone(), cell);
    assert_eq!(format!("{cell:?}"), "OnceCell(Some(1))");
    assert_eq!(cell.into_inner(), Some(1));
    assert_eq!(OnceCell::from(5).get(), Some(&5));
}

#[test]
fn an_error_is_the_leaders_own_and_the_next_one_tries() {
    let cell = OnceCell::new();
    let start = Notify::new();
    let fail = || async {
        start.notified().await;
        Err("no")
    };
    let mut first = Polled::pending(cell.get_or_try_init(fail));
    let mut second = Polled::pending(cell.get_or_try_init(|| ready(Ok::<_, &str>(2))));
    let mut third = Polled::pending(cell.get_or_init(|| ready(3)));
    let mut insert = Polled::pending(cell.try_insert(4));
    let mut wait = Polled::pending(cell.wait());
    assert_eq!(cell.set(5), Err(SetError::InitializingError(5)));
    start.notify_one();
    assert_eq!(first.ready(), Err("no"));
    assert_eq!((second.wakes(), third.wakes(), wait.wakes()), (1, 0, 0));
    assert_eq!(second.ready(), Ok(&2));
    assert_eq!((third.wakes(), insert.wakes(), wait.wakes()), (1, 1, 1));
    assert_eq!((wait.ready(), insert.ready(), third.ready()), (&2, Err((&2, 4)), &2));
}

#[test]
fn eight_waiters_need_one_round() {
    let cell = OnceCell::new();
    let start = Notify::new();
    let make = || async {
        start.notified().await;
        7
    };
    let mut waits: Vec<_> = (0..9).map(|_| Polled::pending(cell.get_or_init(make))).collect();
    start.notify_one();
    assert_eq!(waits[0].ready(), &7);
    assert!(waits.iter().all(|wait| wait.wakes() == 1));
    assert_eq!(waits[8].ready(), &7, "the last one, although no other was polled");
}

#[test]
fn ten_thousand_wait_for_one_value() {
    let cell = Arc::new(OnceCell::new());
    let mut waits: Vec<_> = (0..10_000).map(|_| Polled::pending(cell.wait())).collect();
    cell.set(1).unwrap();
    for wait in waits.iter_mut().rev() {
        assert_eq!(wait.wakes(), 1);
        assert_eq!(wait.ready(), &1);
    }
}

#[test]
fn an_initialiser_that_is_cancelled_hands_over() {
    let cell = OnceCell::new();
    let token = CancellationToken::new();
    let mut first = Polled::pending(cell.get_or_init(pending::<u8>).cancel_on(&token));
    let mut second = Polled::pending(cell.get_or_init(|| ready(2)));
    token.cancel();
    assert!(first.ready().is_err());
    assert_eq!(second.wakes(), 0, "not yet dropped");
    drop(first);
    assert_eq!(second.ready(), &2);
}

#[test]
fn waits_dropped_at_every_stage_leave_nothing() {
    for stage in 0..4 {
        let cell = OnceCell::new();
        let lead = Polled::pending(cell.get_or_init(pending::<u8>));
        let mut candidate = Polled::new(cell.get_or_init(|| ready(1)));
        let mut insert = Polled::new(cell.try_insert(2));
        if stage >= 1 {
            assert!(candidate.poll().is_pending());
            assert!(insert.poll().is_pending());
        }
        let counters = [candidate.counter.clone(), insert.counter.clone()];
        if stage == 2 {
            candidate.counter = Counter::new();
            assert!(candidate.poll().is_pending());
            assert_eq!(Arc::strong_count(&counters[0]), 1);
        }
        if stage == 3 {
            drop(lead);
            assert_eq!(counters[0].count(), 1, "granted the lead, and dropped with it");
        }
        drop((candidate, insert));
        assert_eq!(counters.map(|counter| Arc::strong_count(&counter)), [1, 1], "{stage}");
        assert_eq!(cell.set(3).is_ok(), stage == 3);
    }
}

struct Drops(Arc<AtomicUsize>);

impl Drop for Drops {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn the_value_is_dropped_once() {
    let count = Arc::new(AtomicUsize::new(0));
    let dropped = || count.load(SeqCst);
    let make = || ready(Drops(count.clone()));
    drop(OnceCell::<Drops>::new());
    let mut cell = OnceCell::new();
    now(cell.get_or_init(make));
    let taken = cell.take().unwrap();
    assert_eq!((dropped(), cell.is_initialized()), (0, false));
    now(cell.get_or_init(make));
    drop(cell);
    assert_eq!(dropped(), 1);
    drop(taken);
    assert_eq!(dropped(), 2);
    let cell = OnceCell::from_value(Drops(count.clone()));
    drop(cell.set(Drops(count.clone())));
    assert_eq!(dropped(), 3, "what was not set came back");
    drop(cell.into_inner());
    assert_eq!(dropped(), 4);
    drop(OnceCell::<Drops>::new().try_insert(Drops(count.clone())));
    assert_eq!(dropped(), 5);
}

#[test]
fn exclusive_access_needs_no_waiting() {
    let mut cell = OnceCell::new();
    assert_eq!(cell.get_mut(), None);
    assert_eq!(now(cell.get_mut_or_try_init(|| ready(Err::<u8, _>(())))), Err(()));
    *now(cell.get_mut_or_init(|| ready(1_u8))) += 1;
    assert_eq!(now(cell.get_mut_or_try_init(|| ready(Err(())))), Ok(&mut 2));
    assert_eq!(cell.take(), Some(2));
    assert_eq!(cell.take(), None);
    drop(Polled::new(cell.get_mut_or_init(pending)).poll());
    assert_eq!(cell.get(), None);
}

/// Initialisers that fail or succeed, sets and inserts: every sequence against an option.
#[test]
fn as_its_model() {
    every_sequence(6, 5, |sequence| {
        let cell = OnceCell::new();
        let mut model: Option<usize> = None;
        for (number, step) in sequence.iter().enumerate() {
            match step {
                0 => {
                    let value = *model.get_or_insert(number);
                    assert_eq!(now(cell.get_or_init(|| ready(number))), &value);
                }
                1 => {
                    let result = now(cell.get_or_try_init(|| ready(Err(()))));
                    assert_eq!(result.ok(), model.as_ref());
                }
                2 => {
                    assert_eq!(cell.set(number).is_ok(), model.is_none());
                    model.get_or_insert(number);
                }
                3 => {
                    assert_eq!(now(cell.try_insert(number)).is_ok(), model.is_none());
                    model.get_or_insert(number);
                }
                4 => drop(Polled::new(cell.get_or_init(pending)).poll()),
                _ => {
                    let fails = || -> std::future::Ready<usize> { panic!("fails") };
                    let mut wait = Polled::new(cell.get_or_init(fails));
                    let result = catch_unwind(AssertUnwindSafe(|| wait.poll().is_ready()));
                    assert_eq!(result.is_ok(), model.is_some());
                }
            }
            assert_eq!(cell.get(), model.as_ref(), "{sequence:?}");
        }
    });
}

#[test]
fn threads_make_it_once() {
    watchdog(|| {
        for _ in 0..50 {
            let shared = Arc::new((OnceCell::new(), AtomicUsize::new(0)));
            assert_eq!(shared.0.blocking_wait_timeout(Duration::ZERO), None);
            let threads: Vec<_> = (0..4)
                .map(|number| {
                    let shared = shared.clone();
                    std::thread::spawn(move || {
                        let make = || {
                            shared.1.fetch_add(1, SeqCst);
                            Box::new(number)
                        };
                        let value = **shared.0.blocking_get_or_init(make);
                        assert_eq!(**shared.0.blocking_wait(), value);
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(shared.1.load(SeqCst), 1);
        }
    });
}
