//! Coordinated shutdown: requests, guards, watches, and what is asked of all that lets many go.

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::shutdown::{OwnedShutdownRequested, ShutdownWait};
use crate::tests::crowds::{Case, check};
use crate::tests::support::{Polled, now, watchdog};
use crate::{Shutdown, ShutdownGuard};

static REQUESTS: Case<(Shutdown, ShutdownGuard), bool, OwnedShutdownRequested> = Case {
    make: || (Arc::new(Shutdown::new()), false),
    wait: |pair| pair.1.shutdown_requested_owned(),
    end: |pair| {
        pair.0.request_shutdown();
    },
    is_over: |requested| *requested,
    operations: &[
        |pair, requested| {
            pair.0.request_shutdown();
            !std::mem::replace(requested, true)
        },
        |pair, requested| {
            // Its first poll requests.
            assert!(Polled::new(pair.0.wait()).poll().is_pending());
            !std::mem::replace(requested, true)
        },
        |pair, _| {
            drop(pair.0.wait());
            false
        },
    ],
    compare: |pair, requested| {
        assert_eq!(pair.0.is_shutdown_requested(), *requested);
        assert_eq!(pair.1.is_shutdown_requested(), *requested);
        assert_eq!(pair.1.watch().is_shutdown_requested(), *requested);
    },
};

type Guards = (Shutdown, Mutex<Vec<ShutdownGuard>>);

static GUARDS: Case<Guards, usize, ShutdownWait> = Case {
    make: || {
        let (shutdown, guard) = Shutdown::new();
        (Arc::new((shutdown, Mutex::new(vec![guard]))), 1)
    },
    wait: |guards| guards.0.wait(),
    end: |guards| {
        let all = std::mem::take(&mut *guards.1.lock().unwrap());
        drop(all);
    },
    is_over: |count| *count == 0,
    operations: &[
        |guards, count| {
            let guards = &mut *guards.1.lock().unwrap();
            if let Some(guard) = guards.last().cloned() {
                guards.push(guard);
                *count += 1;
            }
            false
        },
        |guards, count| {
            let guard = guards.1.lock().unwrap().pop();
            let had_one = guard.is_some();
            drop(guard.map(ShutdownGuard::into_watch));
            *count = count.saturating_sub(1);
            had_one && *count == 0
        },
    ],
    compare: |guards, count| assert_eq!(guards.0.guards(), *count),
};

#[test]
fn a_request_lets_all_go() {
    check(&REQUESTS);
}

#[test]
fn the_last_guard_lets_all_go() {
    check(&GUARDS);
}

#[test]
fn a_watch_holds_nothing_up() {
    let (shutdown, guard) = Shutdown::new();
    let watch = guard.watch();
    let mut requested = Polled::pending(watch.shutdown_requested());
    let mut wait = Polled::pending(shutdown.clone().into_future());
    requested.ready();
    drop(guard);
    wait.ready();
    now(watch.shutdown_requested());
}

#[test]
fn threads_finish_before_shutdown_is_complete() {
    watchdog(|| {
        let (shutdown, guard) = Shutdown::new();
        let done = Arc::new(Mutex::new(0));
        let watch = guard.watch();
        assert!(!watch.blocking_shutdown_requested_timeout(Duration::from_millis(1)));
        for _ in 0..4 {
            let (guard, done) = (guard.clone(), done.clone());
            std::thread::spawn(move || {
                guard.watch().blocking_shutdown_requested();
                *done.lock().unwrap() += 1;
                drop(guard);
            });
        }
        assert!(!shutdown.blocking_wait_timeout(Duration::ZERO), "one guard is here");
        drop(guard);
        shutdown.blocking_wait();
        assert_eq!(*done.lock().unwrap(), 4);
    });
}

#[test]
fn a_part_is_asked_with_the_whole_or_alone_and_holds_it_up() {
    let (whole, guard) = Shutdown::new();
    let (part, part_guard) = whole.child();
    let (other, other_guard) = whole.child();
    let (inner, inner_guard) = part.child();
    assert_eq!((whole.guards(), part.guards()), (3, 2));
    // Alone: what is below is asked, what is above or beside is not.
    let mut part_wait = Polled::pending(part.wait());
    assert!(inner_guard.is_shutdown_requested());
    assert!(!whole.is_shutdown_requested() && !other.is_shutdown_requested());
    drop(part_guard);
    assert!(part_wait.poll().is_pending(), "the part's part is not complete");
    drop(inner_guard);
    part_wait.ready();
    assert_eq!((inner.guards(), part.guards(), whole.guards()), (0, 0, 2));
    let mut whole_wait = Polled::pending(whole.wait());
    assert!(other_guard.is_shutdown_requested());
    drop(guard);
    assert!(whole_wait.poll().is_pending());
    drop(other_guard);
    whole_wait.ready();
    // Too late: asked from the start, and nobody waits for it again.
    let (late, late_guard) = whole.child();
    assert!(late.is_shutdown_requested() && !late.request_shutdown());
    assert_eq!((late.guards(), whole.guards()), (1, 0));
    now(whole.wait());
    drop(late_guard);
}

#[test]
fn stages_are_asked_one_after_the_other() {
    let (whole, guard) = Shutdown::new();
    let stages: Vec<_> = (0..3).map(|_| whole.child()).collect();
    let all: Vec<_> = stages.iter().map(|(stage, _)| stage.clone()).collect();
    let mut wait = Polled::new(whole.wait_in_stages(all));
    assert!(!whole.is_shutdown_requested());
    assert!(wait.poll().is_pending());
    let mut guards: Vec<_> = stages.iter().map(|(_, guard)| Some(guard.clone())).collect();
    let asked = |stages: &[(Shutdown, ShutdownGuard)]| {
        stages.iter().map(|(stage, _)| stage.is_shutdown_requested()).collect::<Vec<_>>()
    };
    assert_eq!(asked(&stages), [true, false, false]);
    let mut left: Vec<_> = stages.into_iter().map(|(stage, guard)| (stage, Some(guard))).collect();
    for at in 0..3 {
        assert!(left[at].0.is_shutdown_requested());
        assert!(left.get(at + 1).is_none_or(|next| !next.0.is_shutdown_requested()));
        assert!(!whole.is_shutdown_requested());
        guards[at] = None;
        assert_eq!(wait.wakes(), at);
        left[at].1 = None;
        assert_eq!(wait.wakes(), at + 1);
        assert!(wait.poll().is_pending());
    }
    assert!(whole.is_shutdown_requested(), "the last one to be asked");
    drop(guard);
    wait.ready();
}

#[test]
fn the_first_reason_stays_and_is_seen_below() {
    let (whole, guard) = Shutdown::new();
    let (part, part_guard) = whole.child();
    assert!(whole.reason().is_none());
    let error = std::io::Error::from(std::io::ErrorKind::AddrInUse);
    assert!(part_guard.request_shutdown_because(error));
    assert!(!part.request_shutdown_because("another"));
    assert!(part.reason().unwrap().is::<std::io::Error>());
    assert!(whole.reason().is_none() && !whole.is_shutdown_requested());
    assert!(guard.request_shutdown());
    assert!(!whole.request_shutdown_because("after the request"));
    assert!(whole.reason().is_none());
    let (whole, guard) = Shutdown::new();
    let watch = whole.child().1.into_watch();
    assert!(whole.request_shutdown_because("a signal"));
    for reason in [guard.reason(), watch.reason(), whole.child().1.reason()] {
        assert_eq!(reason.unwrap().to_string(), "a signal");
    }
    assert!(format!("{whole:?}").contains("a signal"));
}

#[test]
fn a_waker_that_panics_does_not_hold_the_whole_up() {
    let (whole, guard) = Shutdown::new();
    let (part, part_guard) = whole.child();
    drop(guard);
    let mut bad = Polled::new(part.wait());
    assert!(bad.poll_with(&crate::tests::support::refusing()).is_pending());
    let mut wait = Polled::pending(whole.wait());
    let dropped = std::panic::AssertUnwindSafe(|| drop(part_guard));
    assert!(std::panic::catch_unwind(dropped).is_err());
    bad.ready();
    wait.ready();
}
