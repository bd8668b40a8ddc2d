//! The channels of many receivers under the model checker, each model named after the race it
//! hunts. Values carry a plain number, so that every hand-over is checked for order.

use std::pin::{Pin, pin};
use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::mpmc::{RecvError, bounded, rendezvous, unbounded};
use crate::tests::model::{Plain, poll_once, wait, wait_pinned};

fn value() -> Arc<Plain> {
    let value = Arc::new(Plain::new());
    value.add(1);
    value
}

/// A send is all that can wake the receiver, in both role arrangements.
#[test]
fn model_mpmc_send_against_recv() {
    model::check(|| {
        let (tx, rx) = bounded(1);
        let theirs = tx.clone();
        let thread = thread::spawn(move || assert!(theirs.try_send(value()).is_ok()));
        wait(rx.recv()).expect("it was sent").add(1);
        thread.join().unwrap();
        drop(tx);
    });
    model::check(|| {
        let (tx, rx) = unbounded::<Arc<Plain>>();
        let theirs = rx.clone();
        let thread = thread::spawn(move || wait(theirs.recv()).expect("it was sent").add(1));
        // Across the end of a block.
        (0..3).for_each(|_| assert!(tx.send(value()).is_ok()));
        thread.join().unwrap();
        (0..2).for_each(|_| rx.try_recv().expect("it was sent").add(1));
    });
}

/// Two receivers wait for two values that come one by one: each gets one.
#[test]
fn model_mpmc_two_receivers_one_value_each() {
    model::check_bounded(2, || {
        let (tx, rx) = bounded::<Arc<Plain>>(2);
        let other = rx.clone();
        let thread = thread::spawn(move || wait(other.recv()).expect("it was sent").add(1));
        let second = thread::spawn(move || wait(rx.recv()).expect("it was sent").add(1));
        assert!(tx.try_send(value()).is_ok());
        assert!(tx.try_send(value()).is_ok());
        thread.join().unwrap();
        second.join().unwrap();
    });
}

/// A receiver gives up while a value comes for it: the one behind it gets it.
#[test]
fn model_mpmc_promise_against_give_up() {
    model::check(|| {
        let (tx, rx) = bounded(1);
        let mut first = Box::pin(rx.recv());
        assert!(poll_once(first.as_mut()).is_pending());
        let mut behind = pin!(rx.recv());
        assert!(poll_once(behind.as_mut()).is_pending());
        let thread = thread::spawn(move || {
            assert!(tx.try_send(value()).is_ok());
            tx
        });
        drop(first);
        wait_pinned(behind).expect("it was sent").add(1);
        drop(thread.join().unwrap());
    });
}

/// A sender gives up while room comes for it: sent or taken back, and the one behind it is served.
#[test]
fn model_mpmc_room_against_give_up() {
    model::check(|| {
        let (tx, rx) = bounded(1);
        assert!(tx.try_send(value()).is_ok());
        let mut first = Box::pin(tx.send(value()));
        assert!(poll_once(first.as_mut()).is_pending());
        let mut behind = pin!(tx.send(value()));
        assert!(poll_once(behind.as_mut()).is_pending());
        let receiver = rx.clone();
        let thread = thread::spawn(move || receiver.try_recv().expect("it is there").add(1));
        let back = first.as_mut().take_back();
        drop(first);
        thread.join().unwrap();
        let rest = usize::from(back.is_none()) + 1;
        if let Some(back) = back {
            back.add(1);
        }
        assert_eq!(std::iter::from_fn(|| rx.try_recv().ok()).map(|v| v.add(1)).count(), rest);
        wait_pinned(behind).unwrap();
    });
}

/// A sender of a rendezvous takes its value back while a receiver comes for it, in both role
/// arrangements: exactly one has it.
#[test]
fn model_mpmc_rendezvous_against_give_up() {
    model::check(|| {
        let (tx, rx) = rendezvous();
        let mut send = Box::pin(tx.send(value()));
        assert!(poll_once(send.as_mut()).is_pending());
        let receiver = rx.clone();
        let thread = thread::spawn(move || receiver.try_recv().map(|value| value.add(1)).is_ok());
        let back = send.as_mut().take_back().map(|value| value.add(1)).is_some();
        drop(send);
        assert_ne!(thread.join().unwrap(), back);
        drop(rx);
    });
    model::check(|| {
        let (tx, rx) = rendezvous();
        let mut recv = Box::pin(rx.recv());
        assert!(poll_once(recv.as_mut()).is_pending());
        let sender = tx.clone();
        let thread = thread::spawn(move || {
            let mut send = Box::pin(sender.send(value()));
            // Pending, or taken at once.
            let _ = poll_once(send.as_mut());
            send.as_mut().take_back().map(|value| value.add(1)).is_some()
        });
        let got = match poll_once(recv.as_mut()) {
            std::task::Poll::Ready(value) => value.map(|value| value.add(1)).is_ok(),
            std::task::Poll::Pending => false,
        };
        assert_ne!(thread.join().unwrap(), got);
        drop(tx);
    });
}

/// Both sides of a rendezvous wait for each other.
#[test]
fn model_mpmc_rendezvous_both_wait() {
    model::check(|| {
        let (tx, rx) = rendezvous();
        let thread = thread::spawn(move || wait(tx.send(value())).is_ok());
        wait(rx.recv()).expect("it was sent").add(1);
        assert_eq!(wait(rx.recv()).err(), Some(RecvError::Disconnected));
        assert!(thread.join().unwrap());
    });
}

/// A send races closing: accepted and drained, or given back.
#[test]
fn model_mpmc_close_against_send() {
    model::check(|| {
        let (tx, rx) = bounded(1);
        let thread = thread::spawn(move || match wait(tx.send(value())) {
            Ok(()) => 1,
            Err(back) => {
                back.into_inner().add(1);
                0
            }
        });
        rx.close();
        let mut got = 0;
        while let Ok(value) = wait(rx.recv()) {
            value.add(1);
            got += 1;
        }
        assert_eq!(thread.join().unwrap(), got);
    });
}

/// The last sender goes while a receiver waits: the value, then the end, and what the sender did
/// before is visible.
#[test]
fn model_mpmc_last_sender_against_recv() {
    model::check(|| {
        let (tx, rx) = bounded(1);
        let data = Arc::new(Plain::new());
        let theirs = data.clone();
        let thread = thread::spawn(move || {
            assert!(tx.try_send(value()).is_ok());
            theirs.add(1);
            drop(tx);
        });
        wait(rx.recv()).expect("it was sent").add(1);
        assert_eq!(wait(rx.recv()).err(), Some(RecvError::Disconnected));
        data.add(1);
        thread.join().unwrap();
    });
}

/// The last receiver goes while a sender waits for room: dropped with the channel, or given back.
#[test]
fn model_mpmc_last_receiver_against_send() {
    model::check(|| {
        let (tx, rx) = bounded(1);
        let kept = value();
        assert!(tx.try_send(kept.clone()).is_ok());
        let thread = thread::spawn(move || {
            kept.get();
            drop(rx);
        });
        match wait(tx.send(value())) {
            Ok(()) => panic!("nobody made room"),
            Err(back) => back.into_inner().add(1),
        }
        thread.join().unwrap();
    });
}

/// A permit comes back, or sends, while the channel is closed and a receiver waits for its end.
#[test]
fn model_mpmc_permit_against_close() {
    for sends in [false, true] {
        model::check(move || {
            let (tx, rx) = bounded(1);
            let place = tx.clone().try_reserve_owned().unwrap();
            let thread = thread::spawn(move || match sends {
                true => drop(place.send(value())),
                false => drop(place),
            });
            rx.close();
            let got = wait(rx.recv()).map(|value| value.add(1)).is_ok();
            assert_eq!(got, sends);
            thread.join().unwrap();
            drop(tx);
        });
    }
}

/// The sender waits for the end while the last receiver goes; a receiver while it is closed.
#[test]
fn model_mpmc_closed_against_last_receiver() {
    model::check(|| {
        let (tx, rx) = bounded::<u8>(1);
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
    model::check(|| {
        let (tx, rx) = bounded::<u8>(1);
        let thread = thread::spawn(move || tx.close());
        wait(rx.closed());
        assert!(rx.is_closed());
        thread.join().unwrap();
    });
}

/// A weak end is upgraded while the last strong one goes.
#[test]
fn model_mpmc_upgrade_against_last_end() {
    model::check(|| {
        let (tx, rx) = unbounded();
        let weak = tx.downgrade();
        let thread = thread::spawn(move || match weak.upgrade() {
            Some(tx) => tx.send(1).is_ok(),
            None => false,
        });
        drop(tx);
        let got = wait(rx.recv());
        assert_eq!(got.is_ok(), thread.join().unwrap());
    });
}

/// A batch makes room for several that wait, with the lock dropped in between.
#[test]
fn model_mpmc_batch_against_waiting_senders() {
    model::check_bounded(2, || {
        let (tx, rx) = bounded(3);
        (0..3).for_each(|_| assert!(tx.try_send(value()).is_ok()));
        let mut waits: Vec<_> = (0..3).map(|_| Box::pin(tx.send(value()))).collect();
        waits.iter_mut().for_each(|one| assert!(poll_once(one.as_mut()).is_pending()));
        let receiver = rx.clone();
        let thread = thread::spawn(move || {
            let mut buffer = Vec::with_capacity(8);
            receiver.try_recv_many(&mut buffer, 3).unwrap();
            buffer.iter().for_each(|value| value.add(1));
            buffer.len()
        });
        let last: Pin<&mut _> = waits[2].as_mut();
        wait_pinned(last).unwrap();
        assert_eq!(thread.join().unwrap(), 3);
        assert_eq!(rx.len(), 3);
    });
}

/// A receive makes room while a sender goes to sleep, in both role arrangements.
#[test]
fn model_mpmc_room_against_wait() {
    model::check(|| {
        let (tx, rx) = bounded(1);
        assert!(tx.try_send(value()).is_ok());
        let thread = thread::spawn(move || assert!(wait(tx.send(value())).is_ok()));
        wait(rx.recv()).expect("it was sent").add(1);
        wait(rx.recv()).expect("it was sent").add(1);
        thread.join().unwrap();
    });
    model::check(|| {
        let (tx, rx) = bounded(1);
        assert!(tx.try_send(value()).is_ok());
        let thread = thread::spawn(move || {
            wait(rx.recv()).expect("it was sent").add(1);
            rx
        });
        wait(tx.reserve()).unwrap().send(value());
        let rx = thread.join().unwrap();
        rx.try_recv().expect("it was sent").add(1);
    });
}

/// A place is granted to one that gives up at that moment: the sender behind it gets it.
#[test]
fn model_mpmc_place_against_give_up() {
    model::check(|| {
        let (tx, rx) = bounded(1);
        assert!(tx.try_send(value()).is_ok());
        let mut goes = Box::pin(tx.reserve());
        assert!(poll_once(goes.as_mut()).is_pending());
        let mut behind = pin!(tx.send(value()));
        assert!(poll_once(behind.as_mut()).is_pending());
        let receiver = rx.clone();
        let thread = thread::spawn(move || receiver.try_recv().expect("it is there").add(1));
        drop(goes);
        assert!(wait_pinned(behind).is_ok());
        thread.join().unwrap();
        rx.try_recv().expect("it was sent").add(1);
    });
}

/// Places come one by one for a sender that wants two and gives up: whatever was gathered, the one
/// behind it gets.
#[test]
fn model_mpmc_gathered_against_give_up() {
    model::check(|| {
        let (tx, rx) = bounded(2);
        (0..2).for_each(|_| assert!(tx.try_send(value()).is_ok()));
        let mut goes = Box::pin(tx.reserve_many(2));
        assert!(poll_once(goes.as_mut()).is_pending());
        let mut behind = pin!(tx.reserve());
        assert!(poll_once(behind.as_mut()).is_pending());
        let thread = thread::spawn(move || {
            rx.try_recv().expect("it is there").add(1);
            rx
        });
        drop(goes);
        wait_pinned(behind).unwrap().send(value());
        assert_eq!(thread.join().unwrap().len(), 2);
    });
}

/// Two places are waited for while they come back one by one, from two threads.
#[test]
fn model_mpmc_two_places_come_one_by_one() {
    model::check_bounded(3, || {
        let (tx, rx) = bounded(2);
        (0..2).for_each(|_| assert!(tx.try_send(value()).is_ok()));
        let receiver = rx.clone();
        let thread = thread::spawn(move || receiver.try_recv().expect("it is there").add(1));
        let second = thread::spawn(move || {
            wait(tx.reserve_many(2)).unwrap().for_each(|place| place.send(value()));
        });
        rx.try_recv().expect("it is there").add(1);
        thread.join().unwrap();
        (0..2).for_each(|_| wait(rx.recv()).expect("it was sent").add(1));
        second.join().unwrap();
    });
}

/// The channel is closed while a receiver waits, and a sender.
#[test]
fn model_mpmc_close_against_waits() {
    model::check(|| {
        let (tx, rx) = bounded::<Arc<Plain>>(1);
        let data = Arc::new(Plain::new());
        let thread = thread::spawn({
            let data = data.clone();
            move || {
                data.add(1);
                tx.close();
                tx
            }
        });
        assert_eq!(wait(rx.recv()).err(), Some(RecvError::Closed));
        data.add(1);
        drop(thread.join().unwrap());
    });
    model::check(|| {
        let (tx, rx) = bounded(1);
        assert!(tx.try_send(value()).is_ok());
        let thread = thread::spawn(move || {
            rx.close();
            rx
        });
        wait(tx.send(value())).unwrap_err().into_inner().add(1);
        thread.join().unwrap().try_recv().expect("it was accepted").add(1);
    });
}

/// Two senders go one after the other: the end shows what both did.
#[test]
fn model_mpmc_end_publishes() {
    model::check(|| {
        let (tx, rx) = bounded::<u8>(1);
        let data = Arc::new([Plain::new(), Plain::new()]);
        let threads = [0, 1].map(|i| {
            let (tx, data) = (tx.clone(), data.clone());
            thread::spawn(move || {
                data[i].add(1);
                drop(tx);
            })
        });
        drop(tx);
        assert_eq!(wait(rx.recv()), Err(RecvError::Disconnected));
        assert_eq!((data[0].get(), data[1].get()), (1, 1));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}
