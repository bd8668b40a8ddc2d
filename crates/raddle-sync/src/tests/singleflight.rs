//! Singleflight: what overlaps is shared, what comes later starts anew.

use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::singleflight::Group;
use crate::tests::support::{Polled, now, watchdog};
use crate::{Notify, block_on};

#[test]
fn what_overlaps_is_shared_and_what_comes_later_is_not() {
    let group = Group::new();
    let gate = Notify::new();
    let work = || async {
        gate.notified().await;
        1
    };
    let mut leader = Polled::pending(group.work_shared("a", work));
    let mut others: Vec<_> =
        (0..3).map(|_| Polled::pending(group.work_shared("a", || ready(0)))).collect();
    assert_eq!(group.len(), 1);
    gate.notify_one();
    assert_eq!(leader.ready(), (1, true));
    assert!(group.is_empty(), "left before the value was published");
    assert_eq!(now(group.work_shared("a", || ready(2))), (2, false), "anew, though some wait");
    for other in others.iter_mut().rev() {
        assert_eq!((other.wakes(), other.ready()), (1, (1, true)));
    }
    assert_eq!(now(group.work("a", || ready(3))), 3);
}

#[test]
fn an_error_is_the_leaders_own() {
    let group = Group::new();
    let gate = Notify::new();
    let fail = || async {
        gate.notified().await;
        Err::<u8, _>("no")
    };
    let mut first = Polled::pending(group.try_work_shared("a", fail));
    let mut second = Polled::pending(group.try_work_shared("a", || ready(Ok::<_, &str>(2))));
    let mut third = Polled::pending(group.try_work("a", || ready(Ok::<_, &str>(3))));
    gate.notify_one();
    assert_eq!(first.ready(), Err("no"));
    drop(first);
    assert_eq!((second.wakes(), third.wakes()), (1, 0));
    assert_eq!(second.ready(), Ok((2, true)));
    assert_eq!(third.ready(), Ok(2));
    assert_eq!(now(group.try_work("a", || ready(Err("no")))), Err("no"));
    assert!(group.is_empty());
}

#[test]
fn work_that_is_dropped_or_panics_passes_on() {
    let group = Group::new();
    let first = Polled::pending(group.work(1, pending::<u8>));
    let mut second = Polled::pending(group.work_shared(1, || ready(2)));
    drop(first);
    assert_eq!(second.ready(), (2, false), "the one that left got nothing");
    let panics = || -> std::future::Ready<u8> { panic!("the work fails") };
    assert!(catch_unwind(AssertUnwindSafe(|| now(group.work(1, panics)))).is_err());
    assert!(group.is_empty());
}

#[test]
fn a_key_that_is_forgotten_starts_anew() {
    let group = Group::new();
    let gate = Notify::new();
    let work = || async {
        gate.notified().await;
        1
    };
    let mut old = Polled::pending(group.work("a", work));
    let mut joined = Polled::pending(group.work("a", || ready(0)));
    assert!(group.forget("a"));
    assert!(!group.forget("a"));
    let mut new = Polled::pending(group.work("a", work));
    gate.notify_one();
    assert_eq!((old.ready(), joined.ready()), (1, 1));
    assert!(new.poll().is_pending());
    assert_eq!(group.len(), 1, "the old one did not take the new one out");
    gate.notify_one();
    assert_eq!(new.ready(), 1);
}

#[test]
fn threads_share_what_overlaps() {
    watchdog(|| {
        let shared = Arc::new((Group::new(), AtomicUsize::new(0)));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    for round in 0..500_usize {
                        let work = || async {
                            assert_eq!(shared.1.fetch_add(1, SeqCst), 0, "two at once");
                            std::thread::yield_now();
                            shared.1.fetch_sub(1, SeqCst);
                            round
                        };
                        block_on(shared.0.work((), work));
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(shared.0.is_empty());
    });
}
