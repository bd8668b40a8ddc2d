//! The once under the model checker, each model named after the race it hunts.

use std::pin::pin;
use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::once::Once;
use crate::tests::model::{Plain, poll_once, wait, wait_pinned};

struct Shared {
    once: Once,
    data: Plain,
}

impl Shared {
    fn call(&self) {
        wait(self.once.call_once(|| async { self.data.add(1) }));
        assert_eq!(self.data.get(), 1);
    }
}

fn shared() -> Arc<Shared> {
    Arc::new(Shared { once: Once::new(), data: Plain::new() })
}

/// Two callers: one does it, and both see it done.
#[test]
fn model_once_two_callers() {
    model::check(|| {
        let shared = shared();
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.call()
        });
        shared.call();
        other.join().unwrap();
    });
}

/// The leader gives up while another one comes, or waits already: that one does it.
#[test]
fn model_once_leader_gives_up() {
    model::check(|| {
        let shared = shared();
        let mut first = Box::pin(shared.once.call_once(|| async {
            shared.data.add(1);
            std::future::pending().await
        }));
        assert!(poll_once(first.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                wait(shared.once.call_once(|| async { shared.data.add(1) }));
                assert_eq!(shared.data.get(), 2);
            }
        });
        drop(first);
        other.join().unwrap();
        assert!(shared.once.is_completed());
    });
}

/// One who waits for the lead is dropped while it is granted: it passes on.
#[test]
fn model_once_lead_dropped() {
    model::check(|| {
        let shared = shared();
        let mut first = Box::pin(shared.once.call_once(std::future::pending::<()>));
        assert!(poll_once(first.as_mut()).is_pending());
        let mut second = Box::pin(shared.once.call_once(std::future::pending::<()>));
        assert!(poll_once(second.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.call()
        });
        drop(first);
        drop(second);
        other.join().unwrap();
    });
}

/// Completion at any moment of an observer's wait ends it, and publishes.
#[test]
fn model_once_complete_against_observer() {
    model::check(|| {
        let shared = shared();
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.call()
        });
        wait(shared.once.wait());
        assert_eq!(shared.data.get(), 1);
        other.join().unwrap();
    });
}

/// Completion while a candidate waits: it is released through the queue, and sees what was done.
#[test]
fn model_once_complete_against_candidate() {
    model::check(|| {
        let shared = shared();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let mut call = pin!(shared.once.call_once(|| async { shared.data.add(1) }));
                if poll_once(call.as_mut()).is_pending() {
                    wait_pinned(call);
                }
                assert_eq!(shared.data.get(), 1);
            }
        });
        thread::yield_now();
        shared.call();
        other.join().unwrap();
    });
}
