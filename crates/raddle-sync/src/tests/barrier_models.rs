//! The barrier under the model checker.

use std::sync::Arc;
use std::task::Poll;

use raddle_base::shim::{model, thread};

use crate::barrier::Barrier;
use crate::tests::model::{Plain, poll_once, wait};

/// Two rounds of two: each sees what the other did before the round, and only one leads.
#[test]
fn model_barrier_rounds() {
    model::check(|| {
        let shared = Arc::new((Barrier::new(2), Plain::new(), Plain::new()));
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.1.add(1);
                let leads = wait(shared.0.wait()).is_leader();
                assert_eq!(shared.2.get(), 1);
                leads
            }
        });
        shared.2.add(1);
        let leads = wait(shared.0.wait()).is_leader();
        assert_eq!(shared.1.get(), 1);
        assert!(leads != other.join().unwrap());
        assert_eq!(shared.0.waiting(), 0);
    });
}

/// An arrival is given up while the other one arrives: either the round was complete, or the
/// arrival is taken back.
#[test]
fn model_barrier_arrival_against_leave() {
    model::check(|| {
        let barrier = Arc::new(Barrier::new(2));
        let mut first = Box::pin(barrier.wait());
        assert!(poll_once(first.as_mut()).is_pending());
        let other = thread::spawn({
            let barrier = barrier.clone();
            move || barrier.try_wait().is_some()
        });
        drop(first);
        assert_eq!(barrier.waiting(), 0, "taken back, or the round was complete");
        other.join().unwrap();
        let mut next = Box::pin(barrier.wait());
        assert!(poll_once(next.as_mut()).is_pending(), "a new round");
        assert!(barrier.try_wait().is_some());
        assert!(matches!(poll_once(next.as_mut()), Poll::Ready(result) if !result.is_leader()));
    });
}
