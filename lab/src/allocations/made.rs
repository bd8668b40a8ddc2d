//! What making a thing allocates, and what carrying values does.

use super::report::{Probe, Report};
use raddle_sync::completion::completion;
use raddle_sync::singleflight::Group;
use raddle_sync::{CancellationToken, OnceMap, Shutdown, TaskTracker, WaitGroup, mpsc, oneshot};
use std::future::ready;

pub(super) fn operations(report: &mut Report) {
    let made = |p: &mut Probe, make: fn()| p.during(|_| make());
    let mut one = |what: &str, make: fn()| report.exactly(what, 1.0, |p| made(p, make));
    one("oneshot::channel", || drop(oneshot::channel::<usize>()));
    one("completion::completion", || drop(completion::<usize>()));
    one("CancellationToken::new", || drop(CancellationToken::new()));
    one("TaskTracker::new", || drop(TaskTracker::new()));
    one("WaitGroup::new", || drop(WaitGroup::new()));
    report.exactly("Shutdown::new, both sides", 2.0, |p| p.during(|_| drop(Shutdown::new())));
    computations(report);
    values(report);
}

fn computations(report: &mut Report) {
    report.exactly("OnceMap::compute, a new key, and its shard's first place", 2.0, |p| {
        let map = OnceMap::new();
        p.during(|hand| hand.ready(map.compute(1, || ready(7))));
    });
    let group = Group::new();
    crate::hand::Hand::new(1).ready(group.work(1, || ready(7)));
    report.exactly("singleflight::Group::work, the one who works", 1.0, |p| {
        p.during(|hand| hand.ready(group.work(1, || ready(7))));
    });
}

fn values(report: &mut Report) {
    report.exactly("mpsc::channel, and 1,000 values one by one: itself and 3 blocks", 4.0, |p| {
        p.during(|hand| {
            let (tx, mut rx) = mpsc::channel(64);
            for value in 0..1_000 {
                hand.ready(tx.send(value)).expect("the receiver is there");
                assert_eq!(hand.ready(rx.recv()), Some(value));
            }
        });
    });
    report.exactly("mpsc::unbounded_channel, and 1,000 values one by one: the same", 4.0, |p| {
        p.during(|hand| {
            let (tx, mut rx) = mpsc::unbounded_channel();
            for value in 0..1_000 {
                tx.send(value).expect("the receiver is there");
                assert_eq!(hand.ready(rx.recv()), Some(value));
            }
        });
    });
}
