//! Broadcast channels under the model checker, each model named after the race it hunts. Values
//! carry a plain number, so that every hand-over is checked for order, and are counted.

use std::pin::pin;
use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::broadcast::{RecvError, TryRecvError, channel, lossless_channel};
use crate::tests::model::{Plain, poll_once, wait, wait_pinned};

fn value() -> Arc<Plain> {
    let value = Arc::new(Plain::new());
    value.add(1);
    value
}

/// A send at any moment of a wait ends it, and shows what came before.
#[test]
fn model_broadcast_send_against_recv() {
    model::check(|| {
        let (tx, mut rx) = channel(1);
        let thread = thread::spawn(move || {
            tx.send(value()).unwrap();
            tx
        });
        assert_eq!(wait(rx.recv()).unwrap().get(), 1);
        drop(thread.join().unwrap());
    });
}

/// Two receivers come for one value at once: each gets it, and nothing stays behind.
#[test]
fn model_broadcast_two_receivers_take_and_clone() {
    model::check(|| {
        let (tx, mut rx) = channel(1);
        let mut other = tx.subscribe();
        let data = value();
        tx.send(data.clone()).unwrap();
        let thread = thread::spawn(move || {
            assert_eq!(other.try_recv().unwrap().get(), 1);
            assert!(matches!(other.try_recv(), Err(TryRecvError::Empty)));
        });
        assert_eq!(rx.try_recv().unwrap().get(), 1);
        thread.join().unwrap();
        assert_eq!((tx.len(), Arc::strong_count(&data)), (0, 1));
    });
}

/// A value is overwritten while it is being cloned: the clone is whole, and the value is dropped
/// by the last one that had to do with it.
#[test]
fn model_broadcast_overwrite_against_clone() {
    model::check(|| {
        let (tx, mut rx) = channel(1);
        let mut other = tx.subscribe();
        let (first, second) = (value(), value());
        second.add(1);
        tx.send(first.clone()).unwrap();
        let thread = thread::spawn(move || {
            let found = match other.try_recv() {
                Ok(value) => value.get(),
                Err(error) => {
                    assert_eq!(error, TryRecvError::Lagged(1));
                    other.try_recv().unwrap().get()
                }
            };
            assert!(found == 1 || found == 2);
            drop(other);
        });
        tx.send(second.clone()).unwrap();
        assert!(matches!(rx.try_recv(), Err(TryRecvError::Lagged(1))));
        assert_eq!(rx.try_recv().unwrap().get(), 2);
        thread.join().unwrap();
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
    });
}

/// A receive makes room while a sender goes to sleep.
#[test]
fn model_broadcast_room_against_wait() {
    model::check(|| {
        let (tx, mut rx) = lossless_channel(1);
        tx.try_send(value()).unwrap();
        let thread = thread::spawn(move || {
            assert!(wait(tx.send(value())).is_ok());
        });
        wait(rx.recv()).unwrap().add(1);
        wait(rx.recv()).unwrap().add(1);
        assert!(matches!(wait(rx.recv()), Err(RecvError::Closed)));
        thread.join().unwrap();
    });
}

/// The slower receiver makes room as it goes, while the other one receives.
#[test]
fn model_broadcast_leave_against_recv() {
    model::check(|| {
        let (tx, mut rx) = lossless_channel(1);
        let other = tx.subscribe();
        let data = value();
        tx.try_send(data.clone()).unwrap();
        let thread = thread::spawn(move || drop(other));
        assert_eq!(wait(rx.recv()).unwrap().get(), 1);
        thread.join().unwrap();
        assert_eq!((tx.capacity(), Arc::strong_count(&data)), (1, 1));
    });
}

/// One receiver leaves two values behind, while a later one comes and goes: out of order.
#[test]
fn model_broadcast_leave_against_overwrite() {
    model::check(|| {
        let (tx, mut rx) = channel(2);
        let data = value();
        tx.send(data.clone()).unwrap();
        let other = tx.subscribe();
        tx.send(data.clone()).unwrap();
        let thread = thread::spawn(move || drop(other));
        tx.send(data.clone()).unwrap();
        assert!(matches!(rx.try_recv(), Err(TryRecvError::Lagged(1))));
        drop(rx);
        thread.join().unwrap();
        assert_eq!((tx.len(), Arc::strong_count(&data)), (0, 1));
    });
}

/// The last receiver goes while a sender waits, or goes to sleep: the value comes back.
#[test]
fn model_broadcast_last_receiver_against_send() {
    model::check(|| {
        let (tx, rx) = lossless_channel(1);
        let data = value();
        tx.try_send(data.clone()).unwrap();
        let thread = thread::spawn(move || drop(rx));
        let back = wait(tx.send(data.clone()));
        if let Err(back) = back {
            back.into_inner().add(1);
        }
        thread.join().unwrap();
        assert_eq!(Arc::strong_count(&data), 1);
    });
    // With the room held, so that none comes back.
    model::check(|| {
        let (tx, rx) = lossless_channel(1);
        let permit = tx.try_reserve().unwrap();
        let thread = thread::spawn(move || drop(rx));
        assert!(wait(tx.send(1)).is_err());
        thread.join().unwrap();
        drop(permit);
    });
}

/// The last sender goes after a send: the value, then the end, which shows what it did.
#[test]
fn model_broadcast_end_against_recv() {
    model::check(|| {
        let (tx, mut rx) = channel(1);
        let data = Arc::new([Plain::new(), Plain::new()]);
        let other = thread::spawn({
            let (tx, data) = (tx.clone(), data.clone());
            move || {
                data[0].add(1);
                drop(tx);
            }
        });
        let thread = thread::spawn({
            let data = data.clone();
            move || {
                data[1].add(1);
                drop(tx);
            }
        });
        assert!(matches!(wait(rx.recv()), Err(RecvError::Closed)));
        assert_eq!((data[0].get(), data[1].get()), (1, 1));
        let left: Result<u8, _> = rx.try_recv();
        assert!(left.is_err());
        other.join().unwrap();
        thread.join().unwrap();
    });
}

/// One of two senders is granted room and gives up at that moment: the other one gets it.
#[test]
fn model_broadcast_granted_and_given_up() {
    model::check(|| {
        let (tx, mut rx) = lossless_channel(1);
        tx.try_send(value()).unwrap();
        let mut goes = Box::pin(tx.reserve());
        let mut stays = pin!(tx.send(value()));
        assert!(poll_once(goes.as_mut()).is_pending());
        assert!(poll_once(stays.as_mut()).is_pending());
        let thread = thread::spawn(move || {
            rx.try_recv().unwrap().add(1);
            rx
        });
        drop(goes);
        assert!(wait_pinned(stays).is_ok());
        let mut rx = thread.join().unwrap();
        assert_eq!(rx.try_recv().unwrap().get(), 1);
    });
}

/// Places come one by one for a sender that wants two and gives up: whatever was gathered, the one
/// behind it gets.
#[test]
fn model_broadcast_gathered_against_give_up() {
    model::check(|| {
        let (tx, mut rx) = lossless_channel(2);
        (0..2).for_each(|_| assert!(tx.try_send(value()).is_ok()));
        let mut goes = Box::pin(tx.reserve_many(2));
        let mut stays = pin!(tx.send(value()));
        assert!(poll_once(goes.as_mut()).is_pending());
        assert!(poll_once(stays.as_mut()).is_pending());
        let thread = thread::spawn(move || {
            rx.try_recv().unwrap().add(1);
            rx
        });
        drop(goes);
        assert!(wait_pinned(stays).is_ok());
        let mut rx = thread.join().unwrap();
        (0..2).for_each(|_| rx.try_recv().unwrap().add(1));
    });
}

/// Two places are waited for while they come back one by one.
#[test]
fn model_broadcast_two_places_come_one_by_one() {
    model::check(|| {
        let (tx, mut rx) = lossless_channel(2);
        (0..2).for_each(|_| assert!(tx.try_send(value()).is_ok()));
        let thread = thread::spawn(move || {
            for place in wait(tx.reserve_many(2)).unwrap() {
                place.send(value()).unwrap();
            }
        });
        (0..4).for_each(|_| wait(rx.recv()).unwrap().add(1));
        thread.join().unwrap();
    });
}
