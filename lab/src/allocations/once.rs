//! Waits for values that are computed, set or found once, and for tokens and pools.

use super::report::Report;
use raddle_sync::completion::completion;
use raddle_sync::pool::{ManageObject, Pool};
use raddle_sync::singleflight::Group;
use raddle_sync::{CancellationToken, LazyCell, Once, OnceCell, OnceMap, SetOnce, WaitMap};
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::pin;

pub(super) fn waits(report: &mut Report) {
    cells(report);
    values(report);
    maps(report);
    others(report);
}

fn cells(report: &mut Report) {
    report.wait(
        "Once::call_once",
        |p| {
            let once = Once::new();
            p.ready(|| once.call_once(|| ready(())));
        },
        |p| {
            let (once, gate) = (Once::new(), raddle_sync::ManualResetEvent::new());
            p.suspended(|| once.call_once(|| gate.wait()), || gate.set());
        },
    );
    report.wait(
        "Once::wait",
        |p| {
            let once = Once::new();
            once.blocking_call_once(|| ());
            p.ready(|| once.wait());
        },
        |p| {
            let once = Once::new();
            p.suspended(|| once.wait(), || once.blocking_call_once(|| ()));
        },
    );
    report.wait(
        "OnceCell::get_or_init",
        |p| {
            let cell = OnceCell::new();
            p.ready(|| cell.get_or_init(|| ready(7)));
        },
        |p| {
            let (cell, gate) = (OnceCell::new(), raddle_sync::ManualResetEvent::new());
            let hand = crate::hand::Hand::new(1);
            let mut leader = pin!(cell.get_or_init(|| async {
                gate.wait().await;
                7
            }));
            hand.park(leader.as_mut());
            gate.set();
            let finish = || assert_eq!(*hand.finish(leader), 7);
            p.suspended(|| cell.get_or_init(|| async { 8 }), finish);
        },
    );
    report.wait(
        "LazyCell::force",
        |p| {
            let cell: LazyCell<Ready<i32>, fn() -> Ready<i32>> = LazyCell::new(|| ready(7));
            p.ready(|| cell.force());
        },
        |p| {
            let gate = raddle_sync::ManualResetEvent::new();
            let cell = pin!(LazyCell::new(|| gate.wait()));
            p.suspended(|| cell.as_ref().force_pin(), || gate.set());
        },
    );
}

fn values(report: &mut Report) {
    report.wait(
        "SetOnce::wait",
        |p| {
            let cell = SetOnce::from(7);
            p.ready(|| cell.wait());
        },
        |p| {
            let cell = SetOnce::new();
            p.suspended(|| cell.wait(), || cell.set(7).expect("it is empty"));
        },
    );
    report.wait(
        "Completion::wait",
        |p| {
            let (completer, completion) = completion();
            completer.complete(7).expect("it is observed");
            p.ready(|| completion.wait());
        },
        |p| {
            let (completer, completion) = completion();
            let complete = || completer.complete(7).expect("it is observed");
            p.suspended(|| completion.wait(), complete);
        },
    );
}

fn maps(report: &mut Report) {
    let map = WaitMap::new();
    report.only_suspended("WaitMap::wait", |p| {
        p.suspended(|| map.wait(1), || map.wake(&1, 7).expect("somebody waits"));
    });
    report.wait(
        "OnceMap::compute of a key in the map, of one being computed",
        |p| {
            let map = OnceMap::new();
            p.get(map.compute(1, || ready(7)));
            p.ready(|| map.compute(1, || ready(8)));
        },
        |p| {
            let (map, gate) = (OnceMap::new(), raddle_sync::ManualResetEvent::new());
            let hand = crate::hand::Hand::new(1);
            let mut leader = pin!(map.compute(1, || async {
                gate.wait().await;
                7
            }));
            hand.park(leader.as_mut());
            gate.set();
            let finish = || assert_eq!(hand.finish(leader), 7);
            p.suspended(|| map.compute(1, || async { 8 }), finish);
        },
    );
    report.only_suspended("singleflight::Group::work, joined", |p| {
        let (group, gate) = (Group::new(), raddle_sync::ManualResetEvent::new());
        let hand = crate::hand::Hand::new(1);
        let mut leader = pin!(group.work(1, || async {
            gate.wait().await;
            7
        }));
        hand.park(leader.as_mut());
        gate.set();
        let finish = || assert_eq!(hand.finish(leader), 7);
        p.suspended(|| group.work(1, || async { 8 }), finish);
    });
}

/// Numbers, which cost nothing to make.
struct Numbers;

impl ManageObject for Numbers {
    type Object = u64;
    type Error = Infallible;

    async fn create(&self) -> Result<u64, Infallible> {
        Ok(7)
    }
}

fn others(report: &mut Report) {
    report.wait(
        "CancellationToken::cancelled",
        |p| {
            let token = CancellationToken::new();
            token.cancel();
            p.ready(|| token.cancelled());
        },
        |p| {
            let token = CancellationToken::new();
            p.suspended(|| token.cancelled(), || token.cancel());
        },
    );
    let pool = Pool::bounded(1, Numbers);
    drop(crate::hand::Hand::new(1).ready(pool.get()));
    report.wait(
        "Pool::get",
        |p| p.ready(|| pool.get()),
        |p| {
            let held = p.get(pool.get());
            p.suspended(|| pool.get(), || drop(held));
        },
    );
}
