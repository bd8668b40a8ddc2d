//! The mutex under the model checker, each model named after the race it hunts. What the lock
//! protects is plain data. In a model a waiter's patience ends the second time it is passed over.

use std::pin::pin;
use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::mutex::Mutex;
use crate::tests::model::{Plain, poll_once, wait, wait_pinned};

struct Shared {
    lock: Mutex<()>,
    data: Plain,
}

fn shared(lock: Mutex<()>) -> Arc<Shared> {
    Arc::new(Shared { lock, data: Plain::new() })
}

fn add(shared: &Shared) {
    let guard = wait(shared.lock.lock());
    shared.data.add(1);
    drop(guard);
}

/// The word and the queue are as in the beginning.
fn is_idle(shared: &Shared) -> bool {
    shared.lock.raw.state() == (false, false, false)
}

/// Two take the lock, by the fast path or the queue.
#[test]
fn model_mutex_excludes() {
    model::check(|| {
        let shared = shared(Mutex::new(()));
        let other = thread::spawn({
            let shared = shared.clone();
            move || add(&shared)
        });
        add(&shared);
        if let Some(guard) = shared.lock.try_lock() {
            shared.data.add(1);
            drop(guard);
        }
        other.join().unwrap();
        assert!(shared.data.get() >= 2);
        assert!(is_idle(&shared));
    });
}

/// A release while another one goes to sleep.
#[test]
fn model_mutex_release_against_wait() {
    model::check(|| {
        let shared = shared(Mutex::new(()));
        let guard = shared.lock.try_lock().unwrap();
        let other = thread::spawn({
            let shared = shared.clone();
            move || add(&shared)
        });
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        assert_eq!(shared.data.get(), 2);
        assert!(is_idle(&shared));
    });
}

/// One that was woken finds the lock taken, and taken again: it is handed over in the end.
#[test]
fn model_mutex_woken_and_passed_over() {
    model::check(|| {
        let shared = shared(Mutex::new(()));
        let guard = shared.lock.try_lock().unwrap();
        let mut first = Box::pin(shared.lock.lock());
        assert!(poll_once(first.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                for _ in 0..2 {
                    if let Some(guard) = shared.lock.try_lock() {
                        shared.data.add(1);
                        drop(guard);
                    }
                }
            }
        });
        drop(guard);
        let guard = wait_pinned(first.as_mut());
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        assert!(is_idle(&shared));
    });
}

/// The hand-over to one that was passed over twice, against a release and another waiter.
#[test]
fn model_mutex_handed_over() {
    model::check(|| {
        let shared = shared(Mutex::new(()));
        let mut first = Box::pin(shared.lock.lock());
        for _ in 0..2 {
            let guard = shared.lock.try_lock().unwrap();
            assert!(poll_once(first.as_mut()).is_pending());
            drop(guard);
        }
        let guard = shared.lock.try_lock().unwrap();
        assert!(poll_once(first.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || add(&shared)
        });
        shared.data.add(1);
        drop(guard);
        let guard = wait_pinned(first.as_mut());
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        assert_eq!(shared.data.get(), 3);
        assert!(is_idle(&shared));
    });
}

/// One that was woken gives up while others take and release the lock: the next one gets it.
#[test]
fn model_mutex_woken_and_dropped() {
    model::check(|| {
        let shared = shared(Mutex::new(()));
        let guard = shared.lock.try_lock().unwrap();
        let mut first = Box::pin(shared.lock.lock());
        assert!(poll_once(first.as_mut()).is_pending());
        let mut second = Box::pin(shared.lock.lock());
        assert!(poll_once(second.as_mut()).is_pending());
        drop(guard);
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                if let Some(guard) = shared.lock.try_lock() {
                    shared.data.add(1);
                    drop(guard);
                }
            }
        });
        drop(first);
        let guard = wait_pinned(second.as_mut());
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        assert!(is_idle(&shared));
    });
}

/// One that waits gives up while the lock is released: it is free for the next.
#[test]
fn model_mutex_cancel_against_release() {
    model::check(|| {
        let shared = shared(Mutex::new(()));
        let guard = shared.lock.try_lock().unwrap();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let mut wait = Box::pin(shared.lock.lock());
                drop(poll_once(wait.as_mut()));
            }
        });
        shared.data.add(1);
        drop(guard);
        add(&shared);
        other.join().unwrap();
        assert!(is_idle(&shared));
    });
}

/// A wait that is polled again takes a free lock, while another one that was woken tries.
#[test]
fn model_mutex_overtakes_from_the_queue() {
    model::check(|| {
        let shared = shared(Mutex::new(()));
        let guard = shared.lock.try_lock().unwrap();
        let mut second = Box::pin(shared.lock.lock());
        let other = thread::spawn({
            let shared = shared.clone();
            move || add(&shared)
        });
        drop(poll_once(second.as_mut()));
        shared.data.add(1);
        drop(guard);
        let guard = wait_pinned(second.as_mut());
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        assert_eq!(shared.data.get(), 3);
        assert!(is_idle(&shared));
    });
}

/// The fair one is handed over, and what it was granted passes on when dropped.
#[test]
fn model_mutex_fair_hands_over() {
    model::check(|| {
        let shared = shared(Mutex::fair(()));
        let guard = shared.lock.try_lock().unwrap();
        let mut first = Box::pin(shared.lock.lock());
        assert!(poll_once(first.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || add(&shared)
        });
        shared.data.add(1);
        drop(guard);
        drop(first);
        other.join().unwrap();
        assert_eq!(shared.data.get(), 2);
        assert!(is_idle(&shared));
    });
}

/// A holder leaves while the only one that waited gives up, which then comes in by itself.
#[test]
fn model_mutex_comes_in_after_the_waiters_left() {
    for make in [Mutex::new, Mutex::fair] {
        model::check(move || {
            let (lock, data) = (Arc::new(make(())), Arc::new(Plain::new()));
            let guard = wait(lock.clone().lock_owned());
            let other = {
                let mut gives_up = pin!(lock.lock());
                assert!(poll_once(gives_up.as_mut()).is_pending());
                let data = data.clone();
                thread::spawn(move || {
                    data.add(1);
                    drop(guard);
                })
            };
            // So that giving up is the last access before the other thread looks: both orders
            // are tried.
            thread::yield_now();
            if let Some(_guard) = lock.try_lock() {
                assert_eq!(data.get(), 1);
            }
            other.join().unwrap();
            assert!(lock.try_lock().is_some());
        });
    }
}
