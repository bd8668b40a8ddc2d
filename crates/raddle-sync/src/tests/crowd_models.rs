//! The crowd under the model checker, each model named after the race it hunts.

use std::pin::pin;
use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::latch::Latch;
use crate::tests::model::{Plain, poll_once, wait, wait_pinned};

struct Shared {
    latch: Latch,
    data: Plain,
}

fn shared(count: usize) -> Arc<Shared> {
    Arc::new(Shared { latch: Latch::new(count), data: Plain::new() })
}

fn count_down(shared: &Arc<Shared>) -> thread::JoinHandle<()> {
    let shared = shared.clone();
    thread::spawn(move || {
        shared.data.add(1);
        shared.latch.count_down();
    })
}

/// The last step at any moment of a wait ends it, and publishes.
#[test]
fn model_crowd_step_against_enter() {
    model::check(|| {
        let shared = shared(1);
        let other = count_down(&shared);
        wait(shared.latch.wait());
        assert_eq!(shared.data.get(), 1);
        other.join().unwrap();
    });
}

/// The other way round: the waiter is the spawned one, the step runs in the model itself.
#[test]
fn model_crowd_enter_against_step() {
    model::check(|| {
        let shared = shared(1);
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                wait(shared.latch.wait());
                assert_eq!(shared.data.get(), 1);
            }
        });
        shared.data.add(1);
        shared.latch.count_down();
        other.join().unwrap();
    });
}

/// Looks, and if the latch is open reads what was written before. On a spawned thread, for a load
/// against which the model tries an exchange that comes before it.
fn look(shared: &Arc<Shared>) -> thread::JoinHandle<()> {
    let shared = shared.clone();
    thread::spawn(move || {
        if shared.latch.try_wait().is_ok() {
            assert_eq!(shared.data.get(), 1);
        }
    })
}

/// The look comes after the step: it ends without the queue, and publishes.
#[test]
fn model_crowd_step_before_look() {
    model::check(|| {
        let shared = shared(1);
        let other = look(&shared);
        shared.data.add(1);
        shared.latch.count_down();
        other.join().unwrap();
    });
}

/// One leaves while all are let go: the other one goes, and nobody stays linked.
#[test]
fn model_crowd_release_against_leave() {
    model::check(|| {
        let shared = shared(1);
        let mut first = Box::pin(shared.latch.wait());
        assert!(poll_once(first.as_mut()).is_pending());
        let mut second = pin!(shared.latch.wait());
        assert!(poll_once(second.as_mut()).is_pending());
        let other = count_down(&shared);
        drop(first);
        wait_pinned(second);
        assert_eq!(shared.data.get(), 1);
        other.join().unwrap();
    });
}

/// The only one leaves while a step does not release and a second one does.
#[test]
fn model_crowd_leave_against_steps() {
    model::check(|| {
        let shared = shared(2);
        let mut first = Box::pin(shared.latch.wait());
        assert!(poll_once(first.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.latch.count_down()
        });
        drop(first);
        shared.latch.count_down();
        other.join().unwrap();
        assert!(poll_once(pin!(shared.latch.wait())).is_ready());
    });
}

/// Two count down, each with data of its own: who finds the latch open sees both.
#[test]
fn model_crowd_steps_add_up() {
    model::check(|| {
        let shared = shared(2);
        let data = Arc::new(Plain::new());
        let other = thread::spawn({
            let (shared, data) = (shared.clone(), data.clone());
            move || {
                data.add(1);
                shared.latch.count_down();
            }
        });
        shared.data.add(1);
        shared.latch.count_down();
        wait(shared.latch.wait());
        assert_eq!((shared.data.get(), data.get()), (1, 1));
        other.join().unwrap();
    });
}

/// A release that goes through the queue publishes to those as well who look later.
#[test]
fn model_crowd_release_publishes_to_later_looks() {
    model::check(|| {
        let shared = shared(1);
        let mut first = Box::pin(shared.latch.wait());
        assert!(poll_once(first.as_mut()).is_pending());
        let other = look(&shared);
        shared.data.add(1);
        shared.latch.count_down();
        other.join().unwrap();
        assert!(poll_once(first.as_mut()).is_ready());
    });
}
