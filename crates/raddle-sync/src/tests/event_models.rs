//! Events under the model checker, each model named after the race it hunts.

use std::pin::pin;
use std::sync::Arc;

use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::atomic::Ordering::Relaxed;
use raddle_base::shim::{model, thread};

use crate::event::{AutoResetEvent, ManualResetEvent};
use crate::tests::model::{Plain, poll_once, wait, wait_pinned};

struct Shared<E> {
    event: E,
    data: Plain,
}

fn shared<E>(event: E) -> Arc<Shared<E>> {
    Arc::new(Shared { event, data: Plain::new() })
}

/// A set at any moment of a wait ends it, and publishes.
#[test]
fn model_event_set_against_wait() {
    model::check(|| {
        let shared = shared(ManualResetEvent::new());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                wait(shared.event.wait());
                assert_eq!(shared.data.get(), 1);
            }
        });
        shared.data.add(1);
        shared.event.set();
        other.join().unwrap();
    });
}

/// The look comes after the set: it ends without the queue, and publishes. The looking thread is
/// the spawned one: see what loom can miss otherwise.
#[test]
fn model_event_set_before_look() {
    model::check(|| {
        let shared = shared(ManualResetEvent::new());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                if shared.event.is_set() {
                    assert_eq!(shared.data.get(), 1);
                }
            }
        });
        shared.data.add(1);
        shared.event.set();
        other.join().unwrap();
    });
}

/// A set and a reset while two wait, one of them from before: that one passes; the other passes,
/// or waits in the next period, and what it would be released by is not lost.
#[test]
fn model_event_set_reset_against_waiters() {
    model::check(|| {
        let shared = shared(ManualResetEvent::new());
        let mut first = pin!(shared.event.wait());
        assert!(poll_once(first.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                // Ready or queued, in this period or the next; then it gives up.
                let _ = poll_once(pin!(shared.event.wait()));
            }
        });
        shared.data.add(1);
        shared.event.set();
        shared.event.reset();
        wait_pinned(first);
        other.join().unwrap();
        assert!(!shared.event.is_set());
        let mut next = Box::pin(shared.event.wait());
        assert!(poll_once(next.as_mut()).is_pending());
        shared.event.set();
        assert!(poll_once(next.as_mut()).is_ready(), "WAITERS tells the truth");
    });
}

/// A set that finds the event set publishes all the same, to a look and through a reset.
#[test]
fn model_event_second_set_publishes() {
    model::check(|| {
        let shared = Arc::new((ManualResetEvent::new(), AtomicUsize::new(0)));
        let others: [_; 2] = std::array::from_fn(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                // Relaxed: that the set orders this is what the model checks.
                shared.1.fetch_add(1, Relaxed);
                shared.0.set();
            })
        });
        while shared.1.load(Relaxed) < 2 {
            wait(shared.0.wait());
            shared.0.reset();
        }
        for other in others {
            other.join().unwrap();
        }
    });
}

/// One gives up while all are released: it is gone, and the other passes.
#[test]
fn model_event_cancel_against_set() {
    model::check(|| {
        let shared = shared(ManualResetEvent::new());
        let mut first = Box::pin(shared.event.wait());
        assert!(poll_once(first.as_mut()).is_pending());
        let mut second = pin!(shared.event.wait());
        assert!(poll_once(second.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.event.set()
        });
        drop(first);
        wait_pinned(second);
        other.join().unwrap();
        assert!(shared.event.is_set());
    });
}

/// The only one gives up while the event is set: the set is not lost.
#[test]
fn model_event_last_cancel_against_set() {
    model::check(|| {
        let shared = shared(ManualResetEvent::new());
        let mut only = Box::pin(shared.event.wait());
        assert!(poll_once(only.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.event.set()
        });
        drop(only);
        other.join().unwrap();
        assert!(shared.event.is_set());
        wait(shared.event.wait());
    });
}

/// One stored signal as a lock: it lets one in at a time, and each sees what the last one wrote.
#[test]
fn model_auto_event_guards_plain_data() {
    model::check(|| {
        let shared = shared(AutoResetEvent::with_state(true));
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                wait(shared.event.wait());
                shared.data.add(1);
                shared.event.set();
            }
        });
        if shared.event.try_wait() {
            shared.data.add(1);
            shared.event.set();
        }
        wait(shared.event.wait());
        shared.data.add(1);
        shared.event.set();
        other.join().unwrap();
        assert!(shared.data.get() >= 2);
        assert!(shared.event.try_wait() && !shared.event.try_wait());
    });
}

/// A signal to one that gives up reaches the one behind it.
#[test]
fn model_auto_event_cancel_hands_on() {
    model::check(|| {
        let shared = shared(AutoResetEvent::new());
        let mut first = Box::pin(shared.event.wait());
        assert!(poll_once(first.as_mut()).is_pending());
        let mut second = pin!(shared.event.wait());
        assert!(poll_once(second.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.data.add(1);
                shared.event.set();
            }
        });
        drop(first);
        wait_pinned(second);
        assert_eq!(shared.data.get(), 1);
        other.join().unwrap();
        assert!(!shared.event.is_set(), "it was one only");
    });
}

/// A signal that nobody waits for any more is stored; a reset takes it, and sees what led to it.
#[test]
fn model_auto_event_reset_against_set() {
    model::check(|| {
        let shared = shared(AutoResetEvent::new());
        let mut only = Box::pin(shared.event.wait());
        assert!(poll_once(only.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let taken = shared.event.reset();
                if taken {
                    assert_eq!(shared.data.get(), 1);
                }
                taken
            }
        });
        shared.data.add(1);
        shared.event.set();
        drop(only);
        let taken = other.join().unwrap();
        assert_eq!(shared.event.is_set(), !taken);
    });
}

/// The coalesced set of a turnstile publishes.
#[test]
fn model_auto_event_second_set_publishes() {
    model::check(|| {
        let shared = Arc::new((AutoResetEvent::new(), AtomicUsize::new(0)));
        let others: [_; 2] = std::array::from_fn(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                // Relaxed: that the set orders this is what the model checks.
                shared.1.fetch_add(1, Relaxed);
                shared.0.set();
            })
        });
        while shared.1.load(Relaxed) < 2 {
            wait(shared.0.wait());
        }
        for other in others {
            other.join().unwrap();
        }
    });
}

/// The same as `model_event_set_before_look` for a set that went through the queue.
#[test]
fn model_event_set_waiting_before_look() {
    model::check(|| {
        let shared = shared(ManualResetEvent::new());
        let mut first = Box::pin(shared.event.wait());
        assert!(poll_once(first.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                if shared.event.is_set() {
                    assert_eq!(shared.data.get(), 1);
                }
            }
        });
        shared.data.add(1);
        shared.event.set();
        other.join().unwrap();
    });
}
