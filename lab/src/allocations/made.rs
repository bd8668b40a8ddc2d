//! What making a thing allocates, and what carrying values does.

use super::report::{Probe, Report};
use raddle_sync::completion::completion;
use raddle_sync::singleflight::Group;
use raddle_sync::{
    CancellationToken, OnceMap, Shutdown, TaskTracker, WaitGroup, broadcast, mpmc, mpsc, oneshot,
    watch,
};
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
    channels(report);
    computations(report);
    values(report);
}

fn channels(report: &mut Report) {
    let made = |p: &mut Probe, make: fn()| p.during(|_| make());
    let mut exactly =
        |what: &str, documented, make: fn()| report.exactly(what, documented, |p| made(p, make));
    exactly("mpmc::bounded: itself and its room", 2.0, || drop(mpmc::bounded::<usize>(64)));
    exactly("mpmc::rendezvous: itself and a block that stays empty", 2.0, || {
        drop(mpmc::rendezvous::<usize>())
    });
    exactly("watch::channel", 1.0, || drop(watch::channel(7)));
    report.exactly("broadcast::Sender::subscribe: room for one more value", 1.0, |p| {
        let (tx, _rx) = broadcast::channel::<usize>(64);
        p.during(|_| drop(tx.subscribe()));
    });
    report.exactly("broadcast, lossless: 1,000 values one by one", 0.0, |p| {
        let (tx, mut rx) = broadcast::lossless_channel(64);
        p.during(|hand| {
            for value in 0..1_000 {
                hand.ready(tx.send(value)).expect("the receiver is there");
                assert_eq!(hand.ready(rx.recv()), Ok(value));
            }
        });
    });
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
