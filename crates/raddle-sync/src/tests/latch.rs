//! The latch: counting, opening once, and what is asked of everything that lets many go.

use std::sync::Arc;
use std::time::Duration;

use crate::tests::crowds::{Case, check};
use crate::tests::support::{Polled, now, watchdog};
use crate::{Latch, OwnedLatchWait};

type LatchCase = Case<Latch, usize, OwnedLatchWait>;

static CASE: LatchCase = Case {
    make: || (Arc::new(Latch::new(3)), 3),
    wait: |latch| latch.clone().wait_owned(),
    end: |latch| latch.arrive(3),
    is_over: |missing| *missing == 0,
    operations: &[
        |latch, missing| {
            latch.count_down();
            let before = std::mem::replace(missing, missing.saturating_sub(1));
            before > 0 && *missing == 0
        },
        |latch, missing| {
            latch.arrive(2);
            let before = std::mem::replace(missing, missing.saturating_sub(2));
            before > 0 && *missing == 0
        },
        |latch, _| {
            latch.arrive(0);
            false
        },
    ],
    compare: |latch, missing| {
        assert_eq!(latch.count(), *missing);
        assert_eq!(latch.try_wait(), if *missing == 0 { Ok(()) } else { Err(*missing) });
    },
};

#[test]
fn a_latch_lets_all_go() {
    check(&CASE);
}

#[test]
fn more_arrivals_than_missing_are_no_arrivals() {
    let latch = Latch::new(2);
    latch.arrive(usize::MAX);
    latch.count_down();
    assert_eq!(latch.count(), 0);
    now(latch.wait());
    now(Latch::new(0).wait());
}

#[test]
#[should_panic = "the count is too large"]
fn a_count_too_large_is_refused() {
    let _ = Latch::new(Latch::MAX_COUNT + 1);
}

#[test]
fn arriving_and_waiting_arrives_once() {
    let latch = Latch::new(2);
    drop(latch.arrive_and_wait());
    assert_eq!(latch.count(), 2, "never polled, never arrived");
    let mut wait = Polled::pending(latch.arrive_and_wait());
    assert!(wait.poll().is_pending());
    assert_eq!(latch.count(), 1);
    drop(wait);
    assert_eq!(latch.count(), 1, "an arrival stays");
    now(latch.arrive_and_wait());
}

#[test]
fn threads_wait_with_and_without_a_limit() {
    watchdog(|| {
        let latch = Arc::new(Latch::new(8));
        assert!(!latch.blocking_wait_timeout(Duration::from_millis(1)));
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let latch = latch.clone();
                std::thread::spawn(move || {
                    latch.count_down();
                    latch.blocking_wait();
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(latch.blocking_wait_timeout(Duration::ZERO));
    });
}
