//! The once: one round of wakes, a lead that passes to exactly one, and hostile company.

use std::cell::Cell;
use std::future::{Future, pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Waker;
use std::time::Duration;

use raddle_base::random::Rng;
use raddle_base::wait::WakeBatch;

use crate::tests::crowds::{Case, check};
use crate::tests::sequences::every_sequence;
use crate::tests::support::{Polled, hostile, now, refusing, watchdog};
use crate::{Notify, Once, OwnedOnceWait};

static CASE: Case<Once, bool, OwnedOnceWait> = Case {
    make: || (Arc::new(Once::new()), false),
    wait: |once| once.clone().wait_owned(),
    end: |once| now(once.call_once(|| ready(()))),
    is_over: |done| *done,
    operations: &[
        |once, done| {
            now(once.call_once(|| ready(())));
            !std::mem::replace(done, true)
        },
        |once, _| {
            // An attempt that is given up changes nothing, nor does one that panics.
            assert!(
                Polled::new(once.call_once(pending::<()>)).poll().is_pending()
                    != once.is_completed()
            );
            let panics = || -> std::future::Ready<()> { panic!("an attempt fails") };
            let _ = catch_unwind(AssertUnwindSafe(|| Polled::new(once.call_once(panics)).poll()));
            false
        },
    ],
    compare: |once, done| assert_eq!(once.is_completed(), *done),
};

#[test]
fn observers_go_in_one_round() {
    check(&CASE);
}

#[test]
fn all_callers_learn_of_the_end_in_one_round() {
    let once = Once::new();
    let start = Notify::new();
    let mut leader = Polled::pending(once.call_once(|| start.notified()));
    let others = 10_000;
    let mut others: Vec<_> =
        (0..others).map(|_| Polled::pending(once.call_once(pending::<()>))).collect();
    start.notify_one();
    assert_eq!(leader.wakes(), 1);
    leader.ready();
    // Nobody was polled yet, and everybody is awake; the last one does not depend on the first.
    for other in others.iter_mut().rev() {
        assert_eq!(other.wakes(), 1);
        other.ready();
    }
}

#[test]
fn a_lead_passes_to_exactly_one_when_given_up() {
    let once = Once::new();
    let leader = Polled::pending(once.call_once(pending::<()>));
    let runs = Cell::new(0);
    let run = || {
        runs.set(runs.get() + 1);
        ready(())
    };
    let mut others: Vec<_> = (0..4).map(|_| Polled::pending(once.call_once(run))).collect();
    let observer = Polled::pending(once.wait());
    drop(leader);
    let wakes: Vec<_> = others.iter().map(Polled::wakes).collect();
    assert_eq!((wakes, observer.wakes()), (vec![1, 0, 0, 0], 0));
    drop(others.remove(0));
    assert_eq!(others[0].wakes(), 1, "a lead that was granted to one who is dropped passes on");
    drop(others.remove(1));
    others[0].ready();
    assert_eq!((others[1].wakes(), observer.wakes(), runs.get()), (1, 1, 1));
    others[1].ready();
    assert_eq!(runs.get(), 1);
}

#[test]
fn an_attempt_that_panics_passes_the_lead_on_at_once_and_drops_its_future_first() {
    struct Drops<'a>(&'a Cell<bool>);
    impl Drop for Drops<'_> {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let once = Once::new();
    let dropped = Cell::new(false);
    let fail = || async {
        let _held = Drops(&dropped);
        std::future::poll_fn(|_| panic!("the attempt fails")).await
    };
    let mut bad = Polled::new(once.call_once(fail));
    assert!(catch_unwind(AssertUnwindSafe(|| bad.poll())).is_err());
    assert!(dropped.get(), "although the call itself is still there");
    now(once.call_once(|| ready(())));
    assert!(once.is_completed());
}

#[test]
fn what_an_attempt_holds_is_gone_before_the_next_begins() {
    let once = Once::new();
    let inside = Cell::new(0);
    struct Inside<'a>(&'a Cell<u32>);
    impl<'a> Inside<'a> {
        fn new(count: &'a Cell<u32>) -> Self {
            count.set(count.get() + 1);
            assert_eq!(count.get(), 1, "two attempts at once");
            Inside(count)
        }
    }
    impl Drop for Inside<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }
    let attempt = || async {
        let _inside = Inside::new(&inside);
        pending::<()>().await;
    };
    let mut attempts: Vec<_> = (0..3).map(|_| Polled::pending(once.call_once(attempt))).collect();
    while !attempts.is_empty() {
        drop(attempts.remove(0));
        if let Some(next) = attempts.first_mut() {
            assert!(next.poll().is_pending());
        }
    }
    assert_eq!(inside.get(), 0);
}

/// Three callers, each polled or dropped, whose leader succeeds when told to: every sequence.
#[test]
fn as_its_model() {
    every_sequence(7, 5, |sequence| {
        let once = Once::new();
        let finish = Cell::new(false);
        let make = || {
            std::future::poll_fn(|_| match finish.get() {
                true => std::task::Poll::Ready(()),
                false => std::task::Poll::Pending,
            })
        };
        let mut calls = [const { None }; 3];
        // Places in the order of their first poll; the first one leads. `woken` counts leads.
        let mut line: Vec<usize> = Vec::new();
        let mut done = false;
        for step in sequence {
            match step {
                0..3 => {
                    let call =
                        calls[*step].get_or_insert_with(|| Polled::new(once.call_once(make)));
                    let ready = call.poll().is_ready();
                    if !done && !line.contains(step) {
                        line.push(*step);
                    }
                    let leads = line.first() == Some(step);
                    assert_eq!(ready, done || leads && finish.get(), "{sequence:?}");
                    if ready {
                        calls[*step] = None;
                        done = true;
                        line.clear();
                    }
                }
                3..6 => {
                    calls[step - 3] = None;
                    line.retain(|place| *place != step - 3);
                }
                _ => finish.set(true),
            }
            assert_eq!(once.is_completed(), done, "{sequence:?}");
        }
    });
}

#[test]
fn hostile_wakers_may_do_anything() {
    watchdog(|| {
        let once = Arc::new(Once::new());
        let make = || {
            let once = Arc::downgrade(&once);
            hostile(move |_| {
                let Some(once) = once.upgrade() else { return };
                let mut wait = Polled::new(once.call_once(pending::<()>));
                let _ = wait.poll_with(Waker::noop());
                let mut wait = Polled::new(once.wait());
                let _ = wait.poll_with(Waker::noop());
            })
        };
        for _ in 0..4 {
            let mut calls: Vec<_> =
                (0..3).map(|_| Polled::new(once.call_once(pending::<()>))).collect();
            for call in &mut calls {
                let _ = call.poll_with(&make());
                let _ = call.poll_with(&make());
            }
            while !calls.is_empty() {
                drop(calls.remove(0));
            }
        }
        let mut lead = Polled::new(once.call_once(|| ready(())));
        let mut other = Polled::new(once.call_once(|| ready(())));
        let _ = lead.poll_with(&make());
        let _ = other.poll_with(&make());
    });
}

#[test]
fn a_panicking_waker_strands_neither_observers_nor_candidates() {
    const MANY: usize = WakeBatch::CAPACITY + 1;
    let once = Once::new();
    let start = Notify::new();
    let mut leader = Polled::pending(once.call_once(|| start.notified()));
    let mut bad = Polled::new(once.wait());
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut observers: Vec<_> = (0..MANY).map(|_| Polled::pending(once.wait())).collect();
    let mut bad_too = Polled::new(once.call_once(pending::<()>));
    assert!(bad_too.poll_with(&refusing()).is_pending());
    let mut others: Vec<_> =
        (0..MANY).map(|_| Polled::pending(once.call_once(pending::<()>))).collect();
    start.notify_one();
    assert!(catch_unwind(AssertUnwindSafe(|| leader.poll())).is_err());
    assert!(once.is_completed());
    observers.iter_mut().for_each(|wait| {
        assert_eq!(wait.wakes(), 1);
        wait.ready();
    });
    others.iter_mut().for_each(|wait| {
        assert_eq!(wait.wakes(), 1);
        wait.ready();
    });
}

/// Random callers that come, go and finish: the lead is never lost.
#[test]
fn somebody_always_gets_it_done() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let once = Once::new();
        let attempts = Cell::new(0);
        let mut calls = Vec::new();
        for _ in 0..100 {
            match rng.below(3) {
                0 => calls.push(Polled::new(once.call_once(|| {
                    attempts.set(attempts.get() + 1);
                    pending::<()>()
                }))),
                1 if !calls.is_empty() => {
                    let place = rng.below(calls.len() as u32) as usize;
                    assert!(calls[place].poll().is_pending());
                }
                _ if !calls.is_empty() => {
                    let place = rng.below(calls.len() as u32) as usize;
                    drop(calls.swap_remove(place));
                }
                _ => {}
            }
        }
        drop(calls);
        now(once.call_once(|| ready(())));
        assert!(once.is_completed());
    }
}

#[test]
fn threads_do_it_once() {
    watchdog(|| {
        for _ in 0..50 {
            let shared = Arc::new((Once::new(), AtomicUsize::new(0)));
            assert!(!shared.0.blocking_wait_timeout(Duration::ZERO));
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let shared = shared.clone();
                    std::thread::spawn(move || {
                        shared.0.blocking_call_once(|| {
                            shared.1.fetch_add(1, SeqCst);
                        });
                        assert_eq!(shared.1.load(SeqCst), 1);
                        shared.0.blocking_wait();
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
        let once = Once::default();
        let result = catch_unwind(AssertUnwindSafe(|| once.blocking_call_once(|| panic!("fails"))));
        assert!(result.is_err() && !once.is_completed());
        once.blocking_call_once(|| {});
    });
}

fn send_sync<T: Send + Sync>(_: &T) {}

#[test]
fn futures_are_send_and_sync() {
    let once = Arc::new(Once::new());
    send_sync(&once.call_once(|| ready(())));
    send_sync(&once.wait());
    send_sync(&once.clone().wait_owned());
    fn is_future<F: Future<Output = ()>>(_: F) {}
    is_future(once.wait());
}
