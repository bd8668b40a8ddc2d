//! Waits at the ends of channels that many share: `mpmc`, `broadcast` and `watch`. As in
//! `channels.rs`, the channels have carried values before.

use super::report::Report;
use raddle_sync::{broadcast, mpmc, watch};
use std::cell::RefCell;

pub(super) fn waits(report: &mut Report) {
    bounded(report);
    unbounded(report);
    lagging(report);
    lossless(report);
    watched(report);
}

fn bounded(report: &mut Report) {
    let (tx, rx) = mpmc::bounded(1);
    let (put, take) = (|| tx.try_send(7).expect("room"), || assert_eq!(rx.try_recv(), Ok(7)));
    report.wait(
        "mpmc::Receiver::recv",
        |p| {
            put();
            p.ready(|| rx.recv());
        },
        |p| p.suspended(|| rx.recv(), put),
    );
    report.wait(
        "mpmc::Sender::send",
        |p| {
            p.ready(|| tx.send(7));
            take();
        },
        |p| {
            put();
            p.suspended(|| tx.send(7), take);
            take();
        },
    );
    report.wait(
        "mpmc::Sender::reserve",
        |p| p.ready(|| tx.reserve()),
        |p| {
            put();
            p.suspended(|| tx.reserve(), take);
        },
    );
    report.only_suspended("mpmc::Sender::closed", |p| {
        let (tx, rx) = mpmc::bounded::<i32>(1);
        p.suspended(|| tx.closed(), || drop(rx));
    });
}

fn unbounded(report: &mut Report) {
    let (tx, rx) = mpmc::unbounded();
    for value in 0..100 {
        tx.send(value).expect("the receiver is there");
        assert_eq!(rx.try_recv(), Ok(value));
    }
    report.only_suspended("mpmc::Receiver::recv, unbounded", |p| {
        p.suspended(|| rx.recv(), || tx.send(7).expect("the receiver is there"));
    });
    let (tx, rx) = mpmc::rendezvous();
    report.only_suspended("mpmc::Receiver::recv, rendezvous", |p| {
        p.suspended(|| rx.recv(), || tx.try_send(7).expect("somebody takes it"));
    });
    report.only_suspended("mpmc::Sender::send, rendezvous", |p| {
        p.suspended(|| tx.send(7), || assert_eq!(rx.try_recv(), Ok(7)));
    });
}

fn lagging(report: &mut Report) {
    let (tx, rx) = broadcast::channel(4);
    let rx = RefCell::new(rx);
    let put = || _ = tx.send(7).expect("the receiver is there");
    report.wait(
        "broadcast::Receiver::recv",
        |p| {
            put();
            p.ready(|| async { rx.borrow_mut().try_recv() });
            put();
            let mut rx = rx.borrow_mut();
            p.ready(|| rx.recv());
        },
        |p| {
            let mut rx = rx.borrow_mut();
            p.suspended(|| rx.recv(), put);
        },
    );
    report.only_suspended("broadcast::Sender::closed", |p| {
        let (tx, rx) = broadcast::channel::<i32>(1);
        p.suspended(|| tx.closed(), || drop(rx));
    });
}

fn lossless(report: &mut Report) {
    let (tx, rx) = broadcast::lossless_channel(1);
    let rx = RefCell::new(rx);
    let put = || _ = tx.try_send(7).expect("there is room");
    let take = || assert_eq!(rx.borrow_mut().try_recv(), Ok(7));
    report.wait(
        "broadcast::Receiver::recv, lossless",
        |p| {
            put();
            let mut rx = rx.borrow_mut();
            p.ready(|| rx.recv());
        },
        |p| {
            let mut rx = rx.borrow_mut();
            p.suspended(|| rx.recv(), put);
        },
    );
    report.wait(
        "broadcast::Sender::send, lossless",
        |p| {
            p.ready(|| tx.send(7));
            take();
        },
        |p| {
            put();
            p.suspended(|| tx.send(7), take);
            take();
        },
    );
    report.wait(
        "broadcast::Sender::reserve",
        |p| p.ready(|| tx.reserve()),
        |p| {
            put();
            p.suspended(|| tx.reserve(), take);
        },
    );
}

fn watched(report: &mut Report) {
    let (tx, rx) = watch::channel(0);
    let rx = RefCell::new(rx);
    let put = || tx.send(7).expect("the receiver is there");
    report.wait(
        "watch::Receiver::changed",
        |p| {
            put();
            let mut rx = rx.borrow_mut();
            p.ready(|| rx.changed());
        },
        |p| {
            let mut rx = rx.borrow_mut();
            p.suspended(|| rx.changed(), put);
        },
    );
    report.wait(
        "watch::Receiver::wait_for",
        |p| {
            let mut rx = rx.borrow_mut();
            p.during(|hand| drop(hand.ready(rx.wait_for(|value| *value == 7))));
        },
        |p| {
            tx.send_replace(0);
            let mut rx = rx.borrow_mut();
            p.suspended(|| rx.wait_for(|value| *value == 7), put);
        },
    );
    report.wait(
        "watch::Receiver::recv",
        |p| {
            put();
            let mut rx = rx.borrow_mut();
            p.ready(|| rx.recv());
        },
        |p| {
            let mut rx = rx.borrow_mut();
            p.suspended(|| rx.recv(), put);
        },
    );
    report.only_suspended("watch::Sender::closed", |p| {
        let (tx, rx) = watch::channel(0);
        p.suspended(|| tx.closed(), || drop(rx));
    });
}
