//! The channels under the model checker, each model named after the race it hunts. Values carry a
//! plain number, so that every hand-over is checked for order.

use std::pin::pin;
use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::mpsc::{channel, unbounded_channel};
use crate::tests::model::{Plain, wait, wait_pinned};

fn value() -> Arc<Plain> {
    let value = Arc::new(Plain::new());
    value.add(1);
    value
}

/// Sending races receiving and the last sender's drop: the value, then the end.
#[test]
fn model_mpsc_last_sender_against_recv() {
    model::check(|| {
        let (tx, mut rx) = unbounded_channel();
        let thread = thread::spawn(move || {
            assert!(tx.send(value()).is_ok());
        });
        let got = wait(rx.recv()).expect("it was sent");
        got.add(1);
        assert!(wait(rx.recv()).is_none());
        thread.join().unwrap();
    });
}

/// A send races the receiver's falling asleep, and is all that can wake it: the channel has another
/// sender.
#[test]
fn model_mpsc_a_send_alone_wakes() {
    model::check(|| {
        let (tx, mut rx) = unbounded_channel();
        let theirs = tx.clone();
        let thread = thread::spawn(move || {
            assert!(theirs.send(value()).is_ok());
        });
        wait(rx.recv()).expect("it was sent").add(1);
        thread.join().unwrap();
        drop(tx);
    });
    model::check(|| {
        let (tx, mut rx) = channel(1);
        let theirs = tx.clone();
        let thread = thread::spawn(move || {
            assert!(theirs.try_send(value()).is_ok());
        });
        wait(rx.recv()).expect("it was sent").add(1);
        thread.join().unwrap();
        drop(tx);
    });
}

/// Two senders go without sending: the end comes after both, and shows what both did.
#[test]
fn model_mpsc_end_publishes() {
    model::check(|| {
        let (tx, mut rx) = unbounded_channel::<u8>();
        let data = [value(), value()];
        let threads = data.clone().map(|data| {
            let tx = tx.clone();
            thread::spawn(move || {
                data.add(1);
                drop(tx);
            })
        });
        drop(tx);
        assert!(wait(rx.recv()).is_none());
        assert_eq!(data.map(|data| data.get()), [2, 2]);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Sending races closing: what was accepted is drained, the rest comes back.
#[test]
fn model_mpsc_send_against_close() {
    model::check(|| {
        let (tx, mut rx) = channel(1);
        let thread = thread::spawn(move || match wait(tx.send(value())) {
            Ok(()) => true,
            Err(back) => {
                back.into_inner().add(1);
                false
            }
        });
        rx.close();
        let mut got = 0;
        while let Some(value) = wait(rx.recv()) {
            value.add(1);
            got += 1;
        }
        assert_eq!(thread.join().unwrap(), got == 1);
    });
}

/// Sending races the receiver's drop: the value is dropped by one side.
#[test]
fn model_mpsc_send_against_drop() {
    model::check(|| {
        let (tx, rx) = channel(1);
        let data = value();
        let thread = thread::spawn({
            let data = data.clone();
            move || {
                if let Err(back) = tx.try_send(data) {
                    back.into_inner().add(1);
                }
            }
        });
        drop(rx);
        thread.join().unwrap();
        assert_eq!(Arc::strong_count(&data), 1);
    });
}

/// After closing, the receiver waits for a reserved place, which is given back unused.
#[test]
fn model_mpsc_reserved_place_against_close() {
    model::check(|| {
        let (tx, mut rx) = channel::<u8>(1);
        let place = tx.clone().try_reserve_owned().unwrap();
        let thread = thread::spawn(move || drop(place));
        rx.close();
        assert!(wait(rx.recv()).is_none());
        thread.join().unwrap();
        drop(tx);
    });
}

/// Two senders share one place: the one that waits gets it when the value is received.
#[test]
fn model_mpsc_room_against_wait() {
    model::check(|| {
        let (tx, mut rx) = channel(1);
        tx.try_send(1).unwrap();
        let thread = thread::spawn(move || wait(tx.send(2)));
        assert_eq!(wait(rx.recv()), Some(1));
        assert_eq!(wait(rx.recv()), Some(2));
        assert!(wait(rx.recv()).is_none());
        thread.join().unwrap().unwrap();
    });
}

/// A weak sender is upgraded while the last sender goes: the end comes after both, or before.
#[test]
fn model_mpsc_upgrade_against_last_sender() {
    model::check(|| {
        let (tx, mut rx) = unbounded_channel();
        let weak = tx.downgrade();
        let thread = thread::spawn(move || match weak.upgrade() {
            Some(tx) => {
                tx.send(1).unwrap();
                true
            }
            None => false,
        });
        drop(tx);
        let got = wait(rx.recv());
        assert_eq!(got.is_some(), thread.join().unwrap());
    });
}

/// The sender waits for the end while the receiver goes away.
#[test]
fn model_mpsc_closed_against_drop() {
    model::check(|| {
        let (tx, rx) = channel::<u8>(1);
        let data = value();
        let thread = thread::spawn({
            let data = data.clone();
            move || {
                data.add(1);
                drop(rx);
            }
        });
        wait_pinned(pin!(tx.closed()));
        data.add(1);
        thread.join().unwrap();
    });
}

/// Two senders claim one after the other while the receiver goes to sleep: both values arrive, and
/// what the later one did is seen although the earlier one may still be at it.
#[test]
fn model_mpsc_two_senders_against_sleep() {
    model::check_bounded(1, || {
        let (tx, mut rx) = unbounded_channel();
        let other = tx.clone();
        let thread = thread::spawn(move || assert!(tx.send(value()).is_ok()));
        let second = thread::spawn(move || assert!(other.send(value()).is_ok()));
        for _ in 0..2 {
            wait(rx.recv()).expect("it was sent").add(1);
        }
        assert!(wait(rx.recv()).is_none());
        thread.join().unwrap();
        second.join().unwrap();
    });
}

/// More values than the first blocks hold, while the receiver drains them: blocks come back while
/// a sender is on its way to a slot.
#[test]
fn model_mpsc_blocks_are_reused() {
    model::check(|| {
        let (tx, mut rx) = unbounded_channel();
        let other = tx.clone();
        let thread = thread::spawn(move || assert!(tx.send(value()).is_ok()));
        for _ in 0..5 {
            assert!(other.send(value()).is_ok());
            wait(rx.recv()).expect("it was sent").add(1);
        }
        drop(other);
        wait(rx.recv()).expect("it was sent").add(1);
        assert!(wait(rx.recv()).is_none());
        thread.join().unwrap();
    });
}

/// Two senders cross from block to block together: each finds its slot, whoever links and moves.
#[test]
fn model_mpsc_senders_walk_and_move() {
    model::check_bounded(2, || {
        let (tx, mut rx) = unbounded_channel();
        let other = tx.clone();
        let thread = thread::spawn(move || {
            (0..2).for_each(|_| assert!(tx.send(value()).is_ok()));
        });
        (0..3).for_each(|_| assert!(other.send(value()).is_ok()));
        drop(other);
        let mut count = 0;
        while let Some(value) = wait(rx.recv()) {
            value.add(1);
            count += 1;
        }
        assert_eq!(count, 5);
        thread.join().unwrap();
    });
}

/// A send without a bound races closing: accepted and drained, or given back.
#[test]
fn model_mpsc_unbounded_send_against_close() {
    model::check(|| {
        let (tx, mut rx) = unbounded_channel();
        let thread = thread::spawn(move || match tx.send(value()) {
            Ok(()) => 1,
            Err(back) => {
                back.into_inner().add(1);
                0
            }
        });
        rx.close();
        let mut got = 0;
        while let Some(value) = wait(rx.recv()) {
            value.add(1);
            got += 1;
        }
        assert_eq!(thread.join().unwrap(), got);
    });
}
