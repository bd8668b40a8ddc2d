//! The condition variable under the model checker, each model named after the race it hunts.

use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::condvar::Condvar;
use crate::mutex::Mutex;
use crate::tests::model::{Plain, poll_once, wait, wait_pinned};

struct Shared {
    condvar: Condvar,
    lock: Mutex<bool>,
    data: Plain,
}

fn shared() -> Arc<Shared> {
    Arc::new(Shared { condvar: Condvar::new(), lock: Mutex::new(false), data: Plain::new() })
}

/// The condition changes at any moment of a wait: it is seen, with what led to it.
#[test]
fn model_condvar_notify_against_wait() {
    model::check(|| {
        let shared = shared();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let guard = wait(shared.lock.lock());
                let guard = wait(shared.condvar.wait_while(guard, |ready| !*ready));
                assert_eq!(shared.data.get(), 1);
                drop(guard);
            }
        });
        let mut guard = wait(shared.lock.lock());
        shared.data.add(1);
        *guard = true;
        drop(guard);
        shared.condvar.notify_one();
        other.join().unwrap();
    });
}

/// The same with the notifier spawned, which notifies all under the mutex.
#[test]
fn model_condvar_notify_all_under_the_mutex() {
    model::check(|| {
        let shared = shared();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let mut guard = wait(shared.lock.lock());
                shared.data.add(1);
                *guard = true;
                shared.condvar.notify_all();
                drop(guard);
            }
        });
        let guard = wait(shared.lock.lock());
        let guard = wait(shared.condvar.wait_while(guard, |ready| !*ready));
        assert_eq!(shared.data.get(), 1);
        drop(guard);
        other.join().unwrap();
    });
}

/// One that is chosen gives up: the other one is chosen in its place.
#[test]
fn model_condvar_cancel_passes_on() {
    model::check(|| {
        let shared = shared();
        let mut first = Box::pin(shared.condvar.wait(wait(shared.lock.lock())));
        assert!(poll_once(first.as_mut()).is_pending());
        let mut second = Box::pin(shared.condvar.wait(wait(shared.lock.lock())));
        assert!(poll_once(second.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.condvar.notify_one()
        });
        drop(first);
        drop(wait_pinned(second.as_mut()));
        other.join().unwrap();
        assert!(shared.lock.try_lock().is_some());
    });
}
