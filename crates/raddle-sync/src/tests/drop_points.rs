//! Every wait is dropped at every stage it can be in, and nothing is lost: no waker stays behind,
//! and the primitive ends in the state it began with.

use std::future::Future;
use std::sync::Arc;

use super::support::{Counter, Polled, now};
use crate::{
    AutoResetEvent, CancelExt, CancellationToken, Condvar, ManualResetEvent, Mutex, Notify, RwLock,
    Semaphore, broadcast, mpmc, mpsc, oneshot, watch,
};

/// The stages at which a future is dropped.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    Made,
    Waiting,
    WaitingWithNewWaker,
    Granted,
    Ready,
}

impl Stage {
    const ALL: [Stage; 5] =
        [Stage::Made, Stage::Waiting, Stage::WaitingWithNewWaker, Stage::Granted, Stage::Ready];

    /// The same, or the stage before for a wait that does not end.
    fn unready(self) -> Self {
        if self == Stage::Ready { Stage::Granted } else { self }
    }

    /// Whether the wait was ended by a grant.
    fn is_served(self) -> bool {
        matches!(self, Stage::Granted | Stage::Ready)
    }
}

/// Brings a future to a stage, with `grant` ending its wait, and drops it there. Returns the
/// output if it got that far.
fn drop_at<F: Future>(future: F, stage: Stage, grant: impl FnOnce()) -> Option<F::Output> {
    let mut polled = Polled::new(future);
    if stage == Stage::Made {
        return None;
    }
    assert!(polled.poll().is_pending());
    if stage == Stage::WaitingWithNewWaker {
        let old = std::mem::replace(&mut polled.counter, Counter::new());
        assert!(polled.poll().is_pending());
        assert_eq!(Arc::strong_count(&old), 1, "the old waker was released");
    }
    let counter = polled.counter.clone();
    if stage.is_served() {
        grant();
        assert_eq!(polled.wakes(), 1);
    }
    let output = (stage == Stage::Ready).then(|| polled.ready());
    drop(polled);
    assert_eq!(Arc::strong_count(&counter), 1, "no waker stays behind at {stage:?}");
    output
}

#[test]
fn permits_are_back_from_every_stage() {
    for stage in Stage::ALL {
        let semaphore = Arc::new(Semaphore::new(0));
        let token = CancellationToken::new();
        let add = || semaphore.add_permits(2);
        let check = || {
            let expected = if stage.is_served() { 2 } else { 0 };
            assert_eq!(semaphore.available_permits(), expected, "{stage:?}");
            semaphore.forget_permits(2);
        };
        drop(drop_at(semaphore.acquire_many(2), stage, add));
        check();
        drop(drop_at(semaphore.clone().acquire_many_owned(2), stage, add));
        check();
        drop(drop_at(semaphore.acquire_many(2).cancel_on(&token), stage, add));
        check();
    }
}

#[test]
fn a_notification_is_seen_or_kept_at_every_stage() {
    for stage in Stage::ALL {
        let notify = Arc::new(Notify::new());
        for round in 0..2 {
            let seen = match round {
                0 => drop_at(notify.notified(), stage, || notify.notify_one()),
                _ => drop_at(notify.clone().notified_owned(), stage, || notify.notify_last()),
            };
            let kept = Polled::new(notify.notified()).poll().is_ready();
            assert_eq!(kept, stage == Stage::Granted);
            assert_eq!(seen.is_some(), stage == Stage::Ready);
            drop_at(notify.notified(), stage, || notify.notify_waiters());
            assert!(Polled::new(notify.notified()).poll().is_pending(), "{stage:?}");
        }
    }
}

#[test]
fn a_signal_is_seen_or_kept_at_every_stage() {
    for stage in Stage::ALL {
        let (gate, turnstile) = (ManualResetEvent::new(), Arc::new(AutoResetEvent::new()));
        drop_at(gate.wait(), stage, || gate.set());
        assert_eq!(gate.reset(), stage.is_served());
        drop_at(turnstile.wait(), stage, || turnstile.set());
        assert_eq!(turnstile.reset(), stage == Stage::Granted, "{stage:?}");
        drop_at(turnstile.clone().wait_owned(), stage, || turnstile.set());
        assert_eq!(turnstile.reset(), stage == Stage::Granted, "{stage:?}");
    }
}

#[test]
fn a_mutex_is_free_after_every_stage() {
    for stage in Stage::ALL {
        for make_lock in [Mutex::new, Mutex::fair] {
            let lock = Arc::new(make_lock(0));
            let mut held = lock.try_lock();
            drop(drop_at(lock.lock(), stage, || held = None));
            drop(held);
            let mut held = Some(lock.try_lock().expect("free after every stage"));
            drop(drop_at(lock.clone().lock_owned(), stage, || held = None));
            drop(held);
            assert!(lock.try_lock().is_some(), "{stage:?}");
        }
    }
}

#[test]
fn a_reader_writer_lock_is_free_after_every_stage() {
    for stage in Stage::ALL {
        let lock = Arc::new(RwLock::new(0));
        let mut held = lock.try_write();
        drop(drop_at(lock.read(), stage, || held = None));
        drop(held);
        let mut held = lock.try_write();
        drop(drop_at(lock.upgradable_read(), stage, || held = None));
        drop(held);
        let mut held = Some(lock.try_read().unwrap());
        drop(drop_at(lock.write(), stage, || held = None));
        drop(held);
        let mut held = Some(lock.try_read().unwrap());
        drop(drop_at(lock.clone().write_owned(), stage, || held = None));
        drop(held);
        assert!(lock.try_write().is_some(), "{stage:?}");
    }
}

#[test]
fn a_condition_is_left_at_every_stage() {
    for stage in Stage::ALL {
        let (condvar, lock) = (Condvar::new(), Mutex::new(0));
        let guard = lock.try_lock().unwrap();
        drop(drop_at(condvar.wait(guard), stage, || condvar.notify_one()));
        assert!(lock.try_lock().is_some(), "{stage:?}");
        let guard = lock.try_lock().unwrap();
        drop(drop_at(condvar.wait_while(guard, |_| true), stage.unready(), || {
            condvar.notify_all();
        }));
        assert!(lock.try_lock().is_some(), "{stage:?}");
    }
}

#[test]
fn room_is_back_from_every_stage() {
    for stage in Stage::ALL {
        let (tx, mut rx) = mpsc::channel(1);
        let mut fill_and_take = |wait: fn(&mpsc::Sender<u8>, Stage, &mut dyn FnMut()) -> bool| {
            tx.try_send(0).unwrap();
            let sent = wait(&tx, stage, &mut || assert_eq!(rx.try_recv(), Ok(0)));
            let expected = if stage.is_served() { usize::from(!sent) } else { 0 };
            assert_eq!(tx.capacity(), expected, "{stage:?}");
            while rx.try_recv().is_ok() {}
            assert_eq!(tx.capacity(), 1);
        };
        fill_and_take(|tx, stage, take| drop_at(tx.send(1), stage, take).is_some());
        fill_and_take(|tx, stage, take| {
            drop(drop_at(tx.reserve(), stage, take));
            false
        });
        fill_and_take(|tx, stage, take| {
            drop(drop_at(tx.reserve_many(1), stage, take));
            false
        });
        fill_and_take(|tx, stage, take| {
            drop(drop_at(tx.clone().reserve_owned(), stage, take));
            false
        });
        assert_eq!(tx.strong_count(), 1);
    }
}

#[test]
fn a_value_is_received_or_still_there_at_every_stage() {
    for stage in Stage::ALL {
        let (tx, mut rx) = oneshot::channel();
        let mut tx = Some(tx);
        let mut polled = Polled::new(&mut rx);
        if stage != Stage::Made {
            assert!(polled.poll().is_pending());
        }
        if stage.is_served() {
            tx.take().unwrap().send(1).unwrap();
        }
        let seen = (stage == Stage::Ready).then(|| polled.ready());
        drop(polled);
        if let Some(tx) = tx {
            tx.send(1).unwrap();
        }
        assert_eq!(seen.is_none(), rx.try_recv().is_ok(), "{stage:?}");

        let (tx, mut rx) = mpsc::unbounded_channel();
        let mut polled = Polled::new(rx.recv());
        if stage != Stage::Made {
            assert!(polled.poll().is_pending());
        }
        tx.send(1).unwrap();
        let seen = (stage == Stage::Ready).then(|| polled.ready());
        drop(polled);
        assert_eq!(seen.is_none(), rx.try_recv().is_ok(), "{stage:?}");
    }
}

#[test]
fn places_and_values_of_many_receivers_are_kept_at_every_stage() {
    for stage in Stage::ALL {
        // The value goes with the send, or was taken: never both, never neither.
        let (tx, rx) = mpmc::bounded(1);
        tx.try_send(0).unwrap();
        let _ = drop_at(tx.send(1), stage, || assert_eq!(rx.try_recv(), Ok(0)));
        assert_eq!(rx.try_recv(), Ok(u8::from(stage.is_served())), "{stage:?}");
        assert!(rx.is_empty());
        tx.try_send(0).unwrap();
        drop(drop_at(tx.reserve(), stage, || assert_eq!(rx.try_recv(), Ok(0))));
        assert_eq!(tx.is_full(), !stage.is_served(), "{stage:?}");
        let _ = tx.try_send(0);
        drop(drop_at(tx.reserve_many(1), stage, || assert_eq!(rx.try_recv(), Ok(0))));
        assert_eq!(tx.is_full(), !stage.is_served(), "{stage:?}");
        let _ = tx.try_send(0);
        drop(drop_at(tx.clone().reserve_owned(), stage, || assert_eq!(rx.try_recv(), Ok(0))));
        assert_eq!((tx.is_full(), tx.sender_count()), (!stage.is_served(), 1), "{stage:?}");
        let _ = rx.try_recv();
        let seen = drop_at(rx.recv(), stage, || tx.try_send(2).unwrap());
        assert_eq!(rx.try_recv().is_ok(), stage == Stage::Granted);
        assert_eq!(seen.is_some(), stage == Stage::Ready);
        let mut buffer = Vec::new();
        let _ = drop_at(rx.recv_many(&mut buffer, 2), stage, || tx.try_send(3).unwrap());
        assert_eq!(rx.try_recv().is_ok(), stage == Stage::Granted);
        assert_eq!(buffer.len(), usize::from(stage == Stage::Ready));
        drop_at(rx.closed(), stage, || assert!(tx.close()));
        let (tx, rx) = mpmc::rendezvous();
        let mut got = None;
        let _ = drop_at(tx.send(4), stage, || got = rx.try_recv().ok());
        assert_eq!(got.is_some(), stage.is_served());
        assert!(rx.try_recv().is_err(), "{stage:?}");
        drop_at(tx.closed(), stage, || drop(rx));
    }
}

#[test]
fn ends_can_be_waited_for_and_left_at_every_stage() {
    for stage in Stage::ALL {
        let token = CancellationToken::new();
        drop_at(token.cancelled(), stage, || token.cancel());
        let token = CancellationToken::new();
        drop_at(token.clone().cancelled_owned(), stage, || token.cancel());
        let (tx, rx) = mpsc::channel::<u8>(1);
        drop_at(tx.closed(), stage, || drop(rx));
        let (tx, rx) = mpsc::unbounded_channel::<u8>();
        drop_at(tx.closed(), stage, || drop(rx));
    }
}

#[test]
fn a_change_is_seen_or_still_there_at_every_stage() {
    for stage in Stage::ALL {
        for form in 0..3 {
            let (tx, mut rx) = watch::channel(0);
            let send = || tx.send(1).unwrap();
            let seen = match form {
                0 => drop_at(rx.changed(), stage, send).is_some(),
                1 => drop_at(rx.recv(), stage, send) == Some(Ok(1)),
                _ => drop_at(rx.wait_for(|value| *value == 1), stage, send).is_some(),
            };
            assert_eq!(seen, stage == Stage::Ready, "{stage:?}");
            assert_eq!(rx.has_changed(), Ok(stage == Stage::Granted), "{stage:?}");
            drop_at(tx.closed(), stage.unready(), || drop(rx));
        }
    }
}

#[test]
fn room_for_a_broadcast_is_back_and_a_value_still_there_at_every_stage() {
    for stage in Stage::ALL {
        let (tx, mut rx) = broadcast::lossless_channel(1);
        let seen = drop_at(rx.recv(), stage, || assert_eq!(tx.try_send(0), Ok(1)));
        assert_eq!(seen, (stage == Stage::Ready).then_some(Ok(0)));
        assert_eq!(rx.try_recv().is_ok(), stage == Stage::Granted, "{stage:?}");
        for form in 0..4 {
            tx.try_send(1).unwrap();
            let take = || assert_eq!(rx.try_recv(), Ok(1));
            let sent = match form {
                0 => drop_at(tx.send(2), stage, take).is_some(),
                1 => {
                    drop(drop_at(tx.reserve(), stage, take));
                    false
                }
                2 => {
                    drop(drop_at(tx.reserve_many(1), stage, take));
                    false
                }
                _ => {
                    drop(drop_at(tx.clone().reserve_owned(), stage, take));
                    false
                }
            };
            let expected = if stage.is_served() { usize::from(!sent) } else { 0 };
            assert_eq!(tx.capacity(), expected, "{stage:?}");
            while rx.try_recv().is_ok() {}
            assert_eq!((tx.capacity(), tx.strong_count()), (1, 1));
        }
        drop_at(tx.closed(), stage, || drop(rx));
    }
}

#[test]
fn a_wait_says_what_it_waits_for_and_where_and_whether_it_was_granted() {
    let semaphore = Semaphore::new(0);
    let mut wait = Polled::new(semaphore.acquire());
    let text = |wait: &Polled<_>| format!("{:?}", wait.future);
    assert!(text(&wait).contains("Permits"), "{}", text(&wait));
    assert!(text(&wait).contains("drop_points.rs"), "{}", text(&wait));
    assert!(text(&wait).contains("Idle"));
    assert!(wait.poll().is_pending());
    assert!(text(&wait).contains("Waiting"));
    semaphore.add_permits(1);
    assert!(text(&wait).contains("Done"), "granted, not polled");
    drop(wait);
    drop(now(semaphore.acquire()).unwrap());
    let (tx, _rx) = mpsc::channel(1);
    let send = format!("{:?}", tx.send(1));
    assert!(send.contains("Room") && send.contains("drop_points.rs"), "{send}");
    let closed = format!("{:?}", tx.closed());
    assert!(closed.contains("Closed") && closed.contains("drop_points.rs"), "{closed}");
}
