//! The completion: a value for those who observe, back if nobody does, abandoned if never given.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::completion::{Abandoned, OwnedCompletionWait, completion};
use crate::tests::crowds::{Case, check};
use crate::tests::support::{Polled, now, watchdog};
use crate::{Completer, Completion};

/// A completer, until it is used, and one observer.
struct Pair(Mutex<Option<Completer<usize>>>, Completion<usize>);

static CASE: Case<Pair, Option<Result<usize, Abandoned>>, OwnedCompletionWait<usize>> = Case {
    make: || {
        let (completer, observer) = completion();
        (Arc::new(Pair(Mutex::new(Some(completer)), observer)), None)
    },
    wait: |pair| pair.1.clone().wait_owned(),
    end: |pair| {
        let completer = pair.0.lock().unwrap().take();
        if let Some(completer) = completer {
            completer.complete(1).unwrap();
        }
    },
    is_over: Option::is_some,
    operations: &[
        |pair, model| {
            let completer = pair.0.lock().unwrap().take();
            let Some(completer) = completer else { return false };
            completer.complete(7).unwrap();
            *model = Some(Ok(7));
            true
        },
        |pair, model| {
            let completer = pair.0.lock().unwrap().take();
            let Some(completer) = completer else { return false };
            drop(completer);
            *model = Some(Err(abandoned()));
            true
        },
    ],
    compare: |pair, model| assert_eq!(pair.1.try_get(), model.as_ref().map(as_ref)),
};

fn as_ref(result: &Result<usize, Abandoned>) -> Result<&usize, Abandoned> {
    result.as_ref().map_err(|error| *error)
}

fn abandoned() -> Abandoned {
    let (completer, observer) = completion::<u8>();
    drop(completer);
    now(observer.wait()).unwrap_err()
}

#[test]
fn a_completion_lets_all_go() {
    check(&CASE);
}

#[test]
fn a_value_that_nobody_observes_comes_back() {
    let (completer, observer) = completion();
    let other = observer.clone();
    drop(observer);
    assert!(!completer.is_abandoned());
    drop(other);
    assert!(completer.is_abandoned());
    assert_eq!(completer.complete(Box::new(1)), Err(Box::new(1)));
}

#[test]
fn the_value_is_dropped_with_the_last_side() {
    let value = Arc::new(());
    let (completer, observer) = completion();
    let other = observer.clone();
    let mut wait = Polled::pending(other.wait_owned());
    completer.complete(value.clone()).unwrap();
    drop(observer);
    assert_eq!(Arc::strong_count(&value), 2);
    let seen = wait.ready().unwrap();
    drop(wait);
    assert!(Arc::ptr_eq(seen.try_get().unwrap().unwrap(), &value));
    drop(seen);
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn threads_observe() {
    watchdog(|| {
        for round in 0..100 {
            let (completer, observer) = completion();
            assert_eq!(observer.blocking_wait_timeout(Duration::ZERO), None);
            let threads = [(); 3].map(|()| {
                let observer = observer.clone();
                std::thread::spawn(move || observer.blocking_wait().copied())
            });
            drop(observer);
            if round % 2 == 0 {
                let _ = completer.complete(round);
            } else {
                drop(completer);
            }
            for thread in threads {
                assert_eq!(thread.join().unwrap().is_ok(), round % 2 == 0);
            }
        }
    });
}
