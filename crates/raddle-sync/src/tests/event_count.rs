//! The event count: nothing missed, so many woken, notifications passed on.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use raddle_base::random::Rng;
use raddle_base::wait::WakeBatch;

use crate::tests::crowds::{Case, check};
use crate::tests::support::{Polled, now, watchdog};
use crate::{EventCount, OwnedEventCountWait};

/// The model: whether somebody has notified since the key was taken, which is at the beginning.
static CASE: Case<(Arc<EventCount>, crate::event_count::Key), bool, OwnedEventCountWait> = Case {
    make: || {
        let event = Arc::new(EventCount::new());
        let key = event.key();
        (Arc::new((event, key)), false)
    },
    wait: |pair| pair.0.clone().wait_owned(pair.1),
    end: |pair| pair.0.notify_all(),
    is_over: |notified| *notified,
    operations: &[
        |pair, notified| {
            pair.0.notify_all();
            *notified = true;
            true
        },
        |pair, notified| {
            pair.0.notify(2);
            *notified = true;
            true
        },
    ],
    compare: |pair, notified| assert_eq!(pair.0.key() != pair.1, *notified),
};

#[test]
fn an_event_count_lets_all_go() {
    check(&CASE);
}

#[test]
fn so_many_go_first_come_first_served() {
    const MANY: usize = 2 * WakeBatch::CAPACITY + 3;
    let event = EventCount::new();
    let key = event.key();
    let mut waits: Vec<_> = (0..MANY + 2).map(|_| Polled::pending(event.wait(key))).collect();
    let woken = |waits: &[Polled<_>]| waits.iter().take_while(|wait| wait.wakes() == 1).count();
    event.notify(0);
    assert_eq!(woken(&waits), 0);
    event.notify_one();
    event.notify_one();
    assert_eq!(woken(&waits), 2, "each for one of its own, though the first was not polled yet");
    event.notify(MANY - 2);
    assert_eq!(woken(&waits), MANY);
    assert_eq!(waits[MANY].wakes(), 0);
    waits[..MANY].iter_mut().rev().for_each(|wait| wait.ready());
    event.notify(usize::MAX);
    waits[MANY..].iter_mut().for_each(|wait| wait.ready());
    now(event.wait(key));
    assert!(Polled::new(event.wait(event.key())).poll().is_pending(), "nothing is stored");
}

#[test]
fn a_notification_for_one_passes_on_when_its_wait_is_dropped() {
    let event = EventCount::new();
    let key = event.key();
    let [first, second, mut third] = [(); 3].map(|()| Polled::pending(event.wait(key)));
    event.notify_one();
    drop(second);
    drop(first);
    assert_eq!(third.wakes(), 1);
    third.ready();
    drop(third);
    let key = event.key();
    let [first, mut second] = [(); 2].map(|()| Polled::pending(event.wait(key)));
    event.notify_all();
    let mut later = Polled::pending(event.wait(event.key()));
    drop(first);
    second.ready();
    assert!(later.poll().is_pending(), "one of all passes nothing on");
}

#[test]
fn a_condition_is_asked_after_each_notification() {
    let event = EventCount::new();
    let (value, asked) = (Cell::new(0), Cell::new(0));
    let condition = || {
        asked.set(asked.get() + 1);
        (value.get() > 1).then(|| value.get())
    };
    let mut wait = Polled::pending(event.wait_until(condition));
    assert!(wait.poll().is_pending());
    assert_eq!(asked.get(), 1, "a poll without a notification does not ask");
    value.set(1);
    event.notify_one();
    assert!(wait.poll().is_pending());
    value.set(2);
    event.notify_one();
    assert_eq!((wait.ready(), asked.get(), wait.wakes()), (2, 3, 2));
    assert_eq!(now(event.wait_until(|| Some(1))), 1);
}

/// Random waits, drops and notifications for one: as many go as were notified and are there.
#[test]
fn notifications_are_conserved() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let event = Arc::new(EventCount::new());
        // Waits, and whether each was let go according to the model.
        let mut waits: Vec<(Polled<OwnedEventCountWait>, bool)> = Vec::new();
        let grant = |waits: &mut Vec<(Polled<_>, bool)>| {
            if let Some(next) = waits.iter_mut().find(|wait| !wait.1) {
                next.1 = true;
            }
        };
        for _ in 0..200 {
            match rng.below(4) {
                0 | 1 => {
                    let wait = Polled::pending(event.clone().wait_owned(event.key()));
                    waits.push((wait, false));
                }
                2 if !waits.is_empty() => {
                    let place = rng.below(waits.len() as u32) as usize;
                    if waits.remove(place).1 {
                        grant(&mut waits);
                    }
                }
                _ => {
                    event.notify_one();
                    grant(&mut waits);
                }
            }
            assert!(waits.iter().all(|(wait, granted)| wait.wakes() == usize::from(*granted)));
        }
    }
}

#[test]
fn threads_hand_a_number_to_and_fro() {
    watchdog(|| {
        let shared = Arc::new((EventCount::new(), AtomicUsize::new(0)));
        let other = std::thread::spawn({
            let shared = shared.clone();
            move || {
                for round in 0..2_000 {
                    let odd = || (shared.1.load(Relaxed) == 2 * round + 1).then_some(());
                    shared.0.blocking_wait_until(odd);
                    shared.1.fetch_add(1, Relaxed);
                    shared.0.notify_all();
                }
            }
        });
        for round in 0..2_000 {
            shared.1.fetch_add(1, Relaxed);
            shared.0.notify_all();
            let even = || (shared.1.load(Relaxed) == 2 * round + 2).then_some(());
            shared.0.blocking_wait_until(even);
        }
        other.join().unwrap();
        let (key, limit) = (shared.0.key(), Duration::from_millis(1));
        assert!(!shared.0.blocking_wait_timeout(key, limit));
        assert_eq!(shared.0.blocking_wait_until_timeout(|| None::<u8>, limit), None);
        shared.0.notify_one();
        shared.0.blocking_wait(key);
    });
}
