//! The event count under the model checker.

use std::pin::pin;
use std::sync::Arc;

use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::atomic::Ordering::Relaxed;
use raddle_base::shim::{model, thread};

use crate::event_count::EventCount;
use crate::tests::model::{poll_once, wait, wait_pinned};

/// A relaxed change and a notification at any moment of look and wait: never missed.
#[test]
fn model_event_count_notify_against_wait() {
    model::check(|| {
        let shared = Arc::new((EventCount::new(), AtomicUsize::new(0)));
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                // Relaxed, here and below: that the count orders this is what the model checks.
                shared.1.store(1, Relaxed);
                shared.0.notify_one();
            }
        });
        wait(shared.0.wait_until(|| (shared.1.load(Relaxed) == 1).then_some(())));
        other.join().unwrap();
    });
}

/// The other way round: the waiter is the spawned one.
#[test]
fn model_event_count_wait_against_notify() {
    model::check(|| {
        let shared = Arc::new((EventCount::new(), AtomicUsize::new(0)));
        let other = thread::spawn({
            let shared = shared.clone();
            move || wait(shared.0.wait_until(|| (shared.1.load(Relaxed) == 1).then_some(())))
        });
        shared.1.store(1, Relaxed);
        shared.0.notify_all();
        other.join().unwrap();
    });
}

/// The one in front gives up while it is let go: the one behind goes.
#[test]
fn model_event_count_one_against_cancel() {
    model::check(|| {
        let event = Arc::new(EventCount::new());
        let key = event.key();
        let mut first = Box::pin(event.wait(key));
        assert!(poll_once(first.as_mut()).is_pending());
        let mut second = pin!(event.wait(key));
        assert!(poll_once(second.as_mut()).is_pending());
        let other = thread::spawn({
            let event = event.clone();
            move || event.notify_one()
        });
        drop(first);
        wait_pinned(second);
        other.join().unwrap();
    });
}
