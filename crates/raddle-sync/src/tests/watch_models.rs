//! The watched value under the model checker, each model named after the race it hunts. The value
//! is plain, so the model fails where a look and a change meet, or are not ordered.

use std::pin::pin;
use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::tests::model::{Plain, poll_once, wait, wait_pinned};
use crate::watch::channel;

/// A send at any moment of a wait ends it, and shows the value and what came before.
#[test]
fn model_watch_send_against_changed() {
    model::check(|| {
        let (tx, mut rx) = channel(0);
        let data = Arc::new(Plain::new());
        let thread = thread::spawn({
            let data = data.clone();
            move || {
                data.add(1);
                tx.send(1).unwrap();
                tx
            }
        });
        assert!(wait(rx.changed()).is_ok());
        assert_eq!((*rx.borrow_and_update(), data.get()), (1, 1));
        drop(thread.join().unwrap());
    });
}

/// The same with the receiver on the spawned thread: see what loom can miss otherwise.
#[test]
fn model_watch_send_before_look() {
    model::check(|| {
        let (tx, mut rx) = channel(0);
        let data = Arc::new(Plain::new());
        let thread = thread::spawn({
            let data = data.clone();
            move || {
                if rx.has_changed() == Ok(true) {
                    assert_eq!(data.get(), 1);
                    return assert_eq!(*rx.borrow(), 1);
                }
                assert!(wait(rx.changed()).is_ok());
                assert_eq!((*rx.borrow_and_update(), data.get()), (1, 1));
            }
        });
        data.add(1);
        tx.send(1).unwrap();
        thread.join().unwrap();
    });
}

/// The last value and the end race a wait: the value is seen, then the end, which shows what the
/// last sender did.
#[test]
fn model_watch_last_value_before_the_end() {
    model::check(|| {
        let (tx, mut rx) = channel(0);
        let data = Arc::new(Plain::new());
        let thread = thread::spawn({
            let data = data.clone();
            move || {
                tx.send(1).unwrap();
                data.add(1);
                drop(tx);
            }
        });
        assert!(wait(rx.changed()).is_ok());
        assert_eq!(*rx.borrow_and_update(), 1);
        assert!(wait(rx.changed()).is_err());
        assert_eq!(data.get(), 1);
        thread.join().unwrap();
    });
}

/// Two senders end, each after a change: the end comes after both and shows what both did. The
/// looking thread is the spawned one.
#[test]
fn model_watch_two_senders_end() {
    model::check(|| {
        let (tx, rx) = channel(0);
        let data = Arc::new([Plain::new(), Plain::new()]);
        let look = thread::spawn({
            let data = data.clone();
            move || {
                if rx.is_closed() {
                    assert_eq!((data[0].get(), data[1].get()), (1, 1));
                }
            }
        });
        let other = thread::spawn({
            let (tx, data) = (tx.clone(), data.clone());
            move || {
                data[0].add(1);
                drop(tx);
            }
        });
        data[1].add(1);
        drop(tx);
        look.join().unwrap();
        other.join().unwrap();
    });
}

/// One of two waits is given up while a send releases them: the other one sees it.
#[test]
fn model_watch_give_up_against_send() {
    model::check(|| {
        let (tx, mut rx) = channel(0);
        let mut other = rx.clone();
        let mut stays = pin!(rx.changed());
        let mut goes = Box::pin(other.changed());
        assert!(poll_once(goes.as_mut()).is_pending());
        assert!(poll_once(stays.as_mut()).is_pending());
        let thread = thread::spawn(move || {
            tx.send(1).unwrap();
            tx
        });
        drop(goes);
        assert!(wait_pinned(stays).is_ok());
        drop(thread.join().unwrap());
    });
}

/// Looks race a send: value and version belong together, so that no change is taken for seen.
#[test]
fn model_watch_borrow_against_send() {
    model::check(|| {
        let (tx, mut rx) = channel(0);
        let thread = thread::spawn(move || {
            tx.send(1).unwrap();
        });
        let seen = *rx.borrow_and_update();
        match wait(rx.changed()) {
            Ok(()) => assert_eq!((seen, *rx.borrow()), (0, 1)),
            Err(_) => assert_eq!(seen, 1),
        }
        thread.join().unwrap();
    });
}

/// Two threads change the value in place, and one looks.
#[test]
fn model_watch_lock_excludes() {
    model::check(|| {
        let (tx, rx) = channel(0);
        let threads =
            [tx.clone(), tx].map(|tx| thread::spawn(move || tx.send_modify(|value| *value += 1)));
        let found = *rx.borrow();
        assert!(found <= 2);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*rx.borrow(), 2);
    });
}

/// A guard goes while a sender goes to sleep, and a look while the sender wants in: all get on.
#[test]
fn model_watch_lock_sleeper_against_end() {
    model::check(|| {
        let (tx, rx) = channel(0);
        let late = rx.clone();
        let guard = rx.borrow();
        let sender = thread::spawn(move || tx.send(1).unwrap());
        let looker = thread::spawn(move || *late.borrow());
        drop(guard);
        assert!(looker.join().unwrap() <= 1);
        sender.join().unwrap();
        assert_eq!(*rx.borrow(), 1);
        assert!(!rx.shared.a_writer_waits());
    });
}

/// The last receiver goes while a sender waits for that.
#[test]
fn model_watch_closed_against_last_receiver() {
    model::check(|| {
        let (tx, rx) = channel(0);
        let data = Arc::new(Plain::new());
        let thread = thread::spawn({
            let data = data.clone();
            move || {
                data.add(1);
                drop(rx);
            }
        });
        wait(tx.closed());
        assert_eq!(data.get(), 1);
        thread.join().unwrap();
    });
}
