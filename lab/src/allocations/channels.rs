//! Waits at the ends of channels. What carrying values allocates is in `made.rs`.

use super::report::Report;
use raddle_sync::{mpsc, oneshot};

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
    let (tx, mut rx) = mpsc::channel(1);
    report.wait(
        "mpsc::Receiver::recv",
        |p| {
            tx.try_send(7).expect("there is room");
            p.ready(|| rx.recv());
        },
        |_| (),
    );
    let (tx, mut rx) = mpsc::channel(1);
    report.only_suspended("mpsc::Receiver::recv", |p| {
        p.suspended(|| rx.recv(), || tx.try_send(7).expect("there is room"));
    });
    senders(report);
}

fn senders(report: &mut Report) {
    let (tx, rx) = mpsc::channel(1);
    let rx = std::cell::RefCell::new(rx);
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
    let (tx, mut rx) = mpsc::unbounded_channel();
    report.only_suspended("mpsc::UnboundedReceiver::recv", |p| {
        p.suspended(|| rx.recv(), || tx.send(7).expect("the receiver is there"));
    });
}
