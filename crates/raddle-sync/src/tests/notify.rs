//! Notifications: stored, single, last, all; given up at any stage; hostile company.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Waker;

use raddle_base::wait::WakeBatch;

use crate::tests::support::{Polled, hostile, now, refusing, watchdog};
use crate::{Notified, Notify, Wait};

const MANY: usize = 3 * WakeBatch::CAPACITY + 1;

fn waiting(notify: &Notify, count: usize) -> Vec<Polled<Notified<'_>>> {
    (0..count).map(|_| Polled::pending(notify.notified())).collect()
}

#[test]
fn one_notification_is_stored() {
    let notify = Notify::new();
    notify.notify_one();
    notify.notify_one();
    now(notify.notified());
    let mut second = Polled::pending(notify.notified());
    notify.notify_last();
    second.ready();
    second.ready();
    drop(second);
    assert!(Polled::new(notify.notified()).poll().is_pending(), "nothing was put back");
}

#[test]
fn first_come_first_served_or_the_last_one() {
    let notify = Notify::new();
    let mut all = waiting(&notify, 4);
    notify.notify_one();
    notify.notify_last();
    notify.notify_one();
    assert_eq!(all.iter().map(Polled::wakes).collect::<Vec<_>>(), [1, 1, 0, 1]);
    assert!(all[2].poll().is_pending());
    for i in [0, 1, 3] {
        all[i].ready();
    }
}

#[test]
fn all_are_notified_also_before_their_first_poll() {
    let notify = Notify::new();
    let mut polled = waiting(&notify, MANY);
    let mut unpolled = Polled::new(notify.notified());
    let mut owned = Polled::new(Arc::new(Notify::new()).notified_owned());
    notify.notify_waiters();
    let mut late = Polled::pending(notify.notified());
    for one in &mut polled {
        assert_eq!(one.wakes(), 1);
        one.ready();
    }
    unpolled.ready();
    assert!(owned.poll().is_pending());
    assert!(late.poll().is_pending(), "it is stored for nobody");
}

#[test]
fn notifying_all_leaves_a_stored_one() {
    let notify = Notify::new();
    notify.notify_one();
    notify.notify_waiters();
    now(notify.notified());
    assert!(Polled::new(notify.notified()).poll().is_pending());
}

#[test]
fn enable_joins_the_queue_before_the_first_poll() {
    let notify = Notify::new();
    let mut first = Polled::new(notify.notified());
    assert!(!first.future.as_mut().enable());
    let mut second = Polled::pending(notify.notified());
    notify.notify_one();
    assert!(second.poll().is_pending());
    assert!(first.future.as_mut().enable());
    assert!(first.future.as_mut().enable(), "and stays over");
    first.ready();
    notify.notify_one();
    second.ready();
    let mut third = Polled::new(notify.notified());
    assert!(!third.future.as_mut().enable());
    assert!(third.poll().is_pending(), "the poll brings the waker");
    notify.notify_one();
    assert_eq!(third.wakes(), 1);
}

#[test]
fn a_chosen_wait_that_is_dropped_passes_on() {
    let notify = Notify::new();
    let mut all = waiting(&notify, 3);
    notify.notify_one();
    drop(all.remove(0));
    assert_eq!(all[0].wakes(), 1);
    drop(all.remove(0));
    assert_eq!(all[0].wakes(), 1);
    drop(all.remove(0));
    now(notify.notified());
    // Chosen as the last one: passes to the last one.
    let mut all = waiting(&notify, 3);
    notify.notify_last();
    drop(all.remove(2));
    assert_eq!((all[0].wakes(), all[1].wakes()), (0, 1));
    // Notified with all others: passes nothing on. The one chosen before that does.
    notify.notify_waiters();
    drop(all);
    now(notify.notified());
    assert!(Polled::new(notify.notified()).poll().is_pending());
}

#[test]
fn leaving_keeps_the_state_of_the_queue() {
    let notify = Notify::new();
    drop(waiting(&notify, 3));
    notify.notify_one();
    now(notify.notified());
    let mut two = waiting(&notify, 2);
    drop(two.remove(0));
    notify.notify_one();
    two[0].ready();
}

#[test]
fn hostile_wakers_may_do_anything() {
    watchdog(|| {
        let notify = Arc::new(Notify::new());
        let make = || {
            let notify = Arc::downgrade(&notify);
            hostile(move |_| {
                let Some(notify) = notify.upgrade() else { return };
                let mut wait = Polled::new(notify.notified());
                let _ = wait.poll_with(Waker::noop());
                notify.notify_one();
                drop(wait);
                notify.notify_waiters();
                notify.notify_last();
                let _ = Polled::new(notify.notified()).poll();
            })
        };
        for round in 0..6 {
            let mut all: Vec<_> =
                (0..2).map(|_| Polled::new(notify.clone().notified_owned())).collect();
            for one in &mut all {
                let _ = one.poll_with(&make());
                let _ = one.poll_with(&make());
            }
            match round % 3 {
                0 => notify.notify_one(),
                1 => notify.notify_waiters(),
                _ => {}
            }
            drop(all);
        }
    });
}

#[test]
fn a_panicking_waker_strands_nobody() {
    let notify = Notify::new();
    let mut before = waiting(&notify, 1);
    let mut bad = Polled::new(notify.notified());
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut after = waiting(&notify, MANY);
    assert!(catch_unwind(AssertUnwindSafe(|| notify.notify_waiters())).is_err());
    for one in before.iter_mut().chain(&mut after) {
        assert_eq!(one.wakes(), 1);
        one.ready();
    }
    bad.ready();
}

#[test]
fn nothing_is_missed_between_looking_and_waiting() {
    const ROUNDS: usize = if cfg!(miri) { 50 } else { 5_000 };
    watchdog(|| {
        let shared = Arc::new((Notify::new(), AtomicUsize::new(0), Notify::new()));
        let sender = std::thread::spawn({
            let shared = shared.clone();
            move || {
                for round in 1..=ROUNDS {
                    shared.1.store(round, SeqCst);
                    shared.0.notify_one();
                    shared.2.notified().wait();
                }
            }
        });
        for round in 1..=ROUNDS {
            while shared.1.load(SeqCst) < round {
                shared.0.notified().wait();
            }
            shared.2.notify_one();
        }
        sender.join().unwrap();
    });
}
