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
