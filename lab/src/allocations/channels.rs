//! Waits at the ends of channels. What carrying values allocates is in `made.rs`: here the channels
//! have carried some, and have their blocks.

use super::report::Report;
use raddle_sync::{mpsc, oneshot};
use std::cell::RefCell;

pub(super) fn waits(report: &mut Report) {
    report.wait(
        "oneshot::Receiver",
        |p| {
            let (tx, rx) = oneshot::channel();
            tx.send(7).expect("the receiver is there");
            p.ready(|| rx);
        },
        |p| {
            let (tx, rx) = oneshot::channel();
            p.suspended(|| rx, || tx.send(7).expect("the receiver is there"));
        },
    );
    report.only_suspended("oneshot::Sender::closed", |p| {
        let (mut tx, rx) = oneshot::channel::<i32>();
        p.suspended(|| tx.closed(), || drop(rx));
    });
    receivers(report);
    senders(report);
}

/// A channel of capacity 1 that has carried a hundred values.
fn used() -> (mpsc::Sender<i32>, RefCell<mpsc::Receiver<i32>>) {
    let (tx, mut rx) = mpsc::channel(1);
    for value in 0..100 {
        tx.try_send(value).expect("there is room");
        assert_eq!(rx.try_recv(), Ok(value));
    }
    (tx, RefCell::new(rx))
}

fn receivers(report: &mut Report) {
    let (tx, rx) = used();
    report.wait(
        "mpsc::Receiver::recv",
        |p| {
            tx.try_send(7).expect("there is room");
            let mut rx = rx.borrow_mut();
            p.ready(|| rx.recv());
        },
        |p| {
            let mut rx = rx.borrow_mut();
            p.suspended(|| rx.recv(), || tx.try_send(7).expect("there is room"));
        },
    );
    let (tx, mut rx) = mpsc::unbounded_channel();
    for value in 0..100 {
        tx.send(value).expect("the receiver is there");
        assert_eq!(rx.try_recv(), Ok(value));
    }
    report.only_suspended("mpsc::UnboundedReceiver::recv", |p| {
        p.suspended(|| rx.recv(), || tx.send(7).expect("the receiver is there"));
    });
}

fn senders(report: &mut Report) {
    let (tx, rx) = used();
    let take = || assert_eq!(rx.borrow_mut().try_recv(), Ok(7));
    report.wait(
        "mpsc::Sender::send",
        |p| {
            p.ready(|| tx.send(7));
            take();
        },
        |p| {
            tx.try_send(7).expect("there is room");
            p.suspended(|| tx.send(7), take);
            take();
        },
    );
    report.wait(
        "mpsc::Sender::reserve",
        |p| p.ready(|| tx.reserve()),
        |p| {
            tx.try_send(7).expect("there is room");
            p.suspended(|| tx.reserve(), take);
        },
    );
    report.only_suspended("mpsc::Sender::closed", |p| {
        let (tx, rx) = mpsc::channel::<i32>(1);
        p.suspended(|| tx.closed(), || drop(rx));
    });
}
