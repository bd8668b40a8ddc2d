//! The counting core under the model checker, each model named after the race it hunts.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use raddle_base::shim::{model, thread};

use crate::semaphore::Semaphore;
use crate::tests::model::{Plain, poll_once, wait, wait_pinned};

struct Guarded {
    semaphore: Semaphore,
    data: Plain,
}

fn guarded(permits: usize) -> Arc<Guarded> {
    Arc::new(Guarded { semaphore: Semaphore::new(permits), data: Plain::new() })
}

/// One permit as a lock: neither the fast path nor the queue lets two in, and each sees what the
/// one before it wrote.
#[test]
fn model_permits_guard_plain_data() {
    model::check(|| {
        let shared = guarded(1);
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let permit = wait(shared.semaphore.acquire()).unwrap();
                shared.data.add(1);
                drop(permit);
            }
        });
        if let Ok(permit) = shared.semaphore.try_acquire() {
            shared.data.add(1);
            drop(permit);
        }
        let permit = wait(shared.semaphore.acquire()).unwrap();
        shared.data.add(1);
        drop(permit);
        other.join().unwrap();
        assert!(shared.data.get() >= 2);
        assert_eq!(shared.semaphore.available_permits(), 1);
    });
}

/// A permit comes back while a waiter goes to sleep: it is never left asleep.
#[test]
fn model_permits_release_against_enqueue() {
    model::check(|| {
        let shared = guarded(0);
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.semaphore.add_permits(1);
                shared.semaphore.add_permits(1);
            }
        });
        wait(shared.semaphore.acquire_many(2)).unwrap().forget();
        other.join().unwrap();
        assert_eq!(shared.semaphore.available_permits(), 0);
    });
}

/// The head gives up while permits come back: they reach the one behind it, none is lost.
#[test]
fn model_permits_release_against_cancel() {
    model::check(|| {
        let shared = guarded(1);
        let mut head = Box::pin(shared.semaphore.acquire_many(2));
        assert!(poll_once(head.as_mut()).is_pending());
        let mut next = pin!(shared.semaphore.acquire());
        assert!(poll_once(next.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.semaphore.add_permits(1)
        });
        drop(head);
        drop(wait_pinned(next).unwrap());
        other.join().unwrap();
        assert_eq!(shared.semaphore.available_permits(), 2);
    });
}

/// Closing races a wait: it ends either way, and no permit is lost.
#[test]
fn model_permits_close_against_acquire() {
    model::check(|| {
        let shared = guarded(1);
        let closer = thread::spawn({
            let shared = shared.clone();
            move || shared.semaphore.close()
        });
        let adder = thread::spawn({
            let shared = shared.clone();
            move || shared.semaphore.add_permits(1)
        });
        let got = wait(shared.semaphore.acquire_many(2)).map(drop);
        closer.join().unwrap();
        adder.join().unwrap();
        drop(got);
        assert_eq!(shared.semaphore.available_permits(), 2);
        assert!(shared.semaphore.is_closed());
    });
}

/// A granted wait is dropped unpolled while another one arrives: the permit passes on.
#[test]
fn model_permits_granted_and_dropped() {
    model::check(|| {
        let shared = guarded(0);
        let mut first = Box::pin(shared.semaphore.acquire());
        assert!(poll_once(first.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || wait(shared.semaphore.acquire()).map(drop)
        });
        shared.semaphore.add_permits(1);
        match poll_once(first.as_mut()) {
            Poll::Ready(Ok(permit)) => drop(permit),
            _ => panic!("it was the only one in line when the permit came"),
        }
        drop(first);
        other.join().unwrap().unwrap();
        assert_eq!(shared.semaphore.available_permits(), 1);
    });
}

/// A permit comes back through the queue whose only waiter has just left: it becomes free, and
/// whoever takes it sees what was done under it.
#[test]
fn model_permits_set_free_publishes() {
    model::check(|| {
        let shared = guarded(0);
        let mut waiting = Box::pin(shared.semaphore.acquire());
        assert!(poll_once(waiting.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.data.add(1);
                shared.semaphore.add_permits(1);
            }
        });
        drop(waiting);
        let permit = loop {
            match shared.semaphore.try_acquire() {
                Ok(permit) => break permit,
                Err(_) => thread::yield_now(),
            }
        };
        shared.data.add(1);
        drop(permit);
        other.join().unwrap();
    });
}

/// Permits are taken away while in use and come back at the same time, with somebody waiting: the
/// debt is paid, and the one who waits gets what is left.
#[test]
fn model_permits_reduce_against_release() {
    model::check(|| {
        let shared = guarded(0);
        let mut waiting = Box::pin(shared.semaphore.acquire());
        assert!(poll_once(waiting.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.semaphore.reduce_permits(1)
        });
        shared.semaphore.add_permits(1);
        other.join().unwrap();
        shared.semaphore.add_permits(1);
        wait_pinned(waiting.as_mut()).unwrap().forget();
        let (free, owed) = (shared.semaphore.available_permits(), shared.semaphore.owed_permits());
        assert_eq!(free, owed, "two were added, one taken away, one taken");
    });
}

/// A reduction that came before a release is paid by it, although somebody waits.
#[test]
fn model_permits_a_debt_goes_before_who_waits() {
    model::check(|| {
        let shared = guarded(0);
        let mut waiting = Box::pin(shared.semaphore.acquire());
        assert!(poll_once(waiting.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.semaphore.reduce_permits(1)
        });
        other.join().unwrap();
        shared.semaphore.add_permits(1);
        assert!(poll_once(waiting.as_mut()).is_pending());
        assert_eq!(shared.semaphore.owed_permits(), 0);
        shared.semaphore.add_permits(1);
        wait_pinned(waiting.as_mut()).unwrap().forget();
        assert_eq!(shared.semaphore.available_permits(), 0);
    });
}
