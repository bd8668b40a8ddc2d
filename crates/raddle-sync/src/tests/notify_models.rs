//! Notifications under the model checker, each model named after the race it hunts.

use std::pin::pin;
use std::sync::Arc;

use raddle_base::shim::atomic::AtomicUsize;
use raddle_base::shim::atomic::Ordering::Relaxed;
use raddle_base::shim::{model, thread};

use crate::notify::Notify;
use crate::tests::model::{Plain, poll_once, wait, wait_pinned};

struct Shared {
    notify: Notify,
    data: Plain,
}

fn shared() -> Arc<Shared> {
    Arc::new(Shared { notify: Notify::new(), data: Plain::new() })
}

/// A single notification at any moment of a wait ends it, and publishes.
#[test]
fn model_notify_one_against_wait() {
    model::check(|| {
        let shared = shared();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.data.add(1);
                shared.notify.notify_one();
            }
        });
        wait(shared.notify.notified());
        assert_eq!(shared.data.get(), 1);
        other.join().unwrap();
    });
}

/// A notification of all reaches a wait that exists, polled or not, and publishes.
#[test]
fn model_notify_waiters_against_wait() {
    model::check(|| {
        let shared = shared();
        let waiting = shared.notify.notified();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.data.add(1);
                shared.notify.notify_waiters();
            }
        });
        wait(waiting);
        assert_eq!(shared.data.get(), 1);
        other.join().unwrap();
    });
}

/// The same while another one waits already, which makes it go through the queue.
#[test]
fn model_notify_waiters_against_unpolled() {
    model::check(|| {
        let shared = shared();
        let mut other_wait = Box::pin(shared.notify.notified());
        assert!(poll_once(other_wait.as_mut()).is_pending());
        let waiting = shared.notify.notified();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.data.add(1);
                shared.notify.notify_waiters();
            }
        });
        // Lets the notification run first, too: see `model_notify_one_before_look`.
        thread::yield_now();
        wait(waiting);
        assert_eq!(shared.data.get(), 1);
        other.join().unwrap();
        assert!(poll_once(other_wait.as_mut()).is_ready());
    });
}

/// The one in front gives up while it is chosen: the notification reaches the one behind.
#[test]
fn model_notify_one_against_cancel() {
    model::check(|| {
        let shared = shared();
        let mut first = Box::pin(shared.notify.notified());
        assert!(poll_once(first.as_mut()).is_pending());
        let mut second = pin!(shared.notify.notified());
        assert!(poll_once(second.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.notify.notify_one()
        });
        drop(first);
        wait_pinned(second);
        other.join().unwrap();
        assert!(poll_once(pin!(shared.notify.notified())).is_pending(), "it was one only");
    });
}

/// A notification that finds one stored publishes all the same: what both announced by relaxed
/// writes is seen, or another notification is still to come.
#[test]
fn model_notify_publishes() {
    model::check(|| {
        let shared = Arc::new((Notify::new(), AtomicUsize::new(0)));
        let others: [_; 2] = std::array::from_fn(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                // Relaxed: that the notification orders this is what the model checks.
                shared.1.fetch_add(1, Relaxed);
                shared.0.notify_one();
            })
        });
        while shared.1.load(Relaxed) < 2 {
            wait(shared.0.notified());
        }
        for other in others {
            other.join().unwrap();
        }
    });
}

/// The look of a wait comes after the notification: it ends without the queue, and publishes.
///
/// The yield lets loom run the notification first; a load before an exchange of the same thread
/// hides from its search that another thread's earlier load could come after both.
#[test]
fn model_notify_one_before_look() {
    model::check(|| {
        let shared = shared();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.data.add(1);
                shared.notify.notify_one();
            }
        });
        thread::yield_now();
        wait(shared.notify.notified());
        assert_eq!(shared.data.get(), 1);
        other.join().unwrap();
    });
}

/// The same for a notification of all.
#[test]
fn model_notify_waiters_before_look() {
    model::check(|| {
        let shared = shared();
        let waiting = shared.notify.notified();
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.data.add(1);
                shared.notify.notify_waiters();
            }
        });
        thread::yield_now();
        wait(waiting);
        assert_eq!(shared.data.get(), 1);
        other.join().unwrap();
    });
}
