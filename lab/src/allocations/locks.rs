//! Waits for locks, permits and conditions.

use super::report::Report;
use raddle_sync::{CancelExt, CancellationToken, Condvar, Mutex, RwLock, Semaphore};
use std::sync::Arc;

pub(super) fn waits(report: &mut Report) {
    mutexes(report);
    rwlocks(report);
    others(report);
}

fn mutexes(report: &mut Report) {
    for (what, lock) in [("Mutex::lock", Mutex::new(0)), ("Mutex::lock, fair", Mutex::fair(0))] {
        report.wait(
            what,
            |p| p.ready(|| lock.lock()),
            |p| {
                let held = p.get(lock.lock());
                p.suspended(|| lock.lock(), || drop(held));
            },
        );
    }
    let lock = Arc::new(Mutex::new(0));
    report.wait(
        "Mutex::lock_owned",
        |p| p.ready(|| lock.clone().lock_owned()),
        |p| {
            let held = p.get(lock.lock());
            p.suspended(|| lock.clone().lock_owned(), || drop(held));
        },
    );
    let token = CancellationToken::new();
    report.wait(
        "Mutex::lock, cancel_on",
        |p| p.ready(|| lock.lock().cancel_on(&token)),
        |p| {
            let held = p.get(lock.lock());
            p.suspended(|| lock.lock().cancel_on(&token), || drop(held));
        },
    );
}

fn rwlocks(report: &mut Report) {
    let lock = RwLock::new(0);
    report.wait(
        "RwLock::read",
        |p| p.ready(|| lock.read()),
        |p| {
            let held = p.get(lock.write());
            p.suspended(|| lock.read(), || drop(held));
        },
    );
    report.wait(
        "RwLock::write",
        |p| p.ready(|| lock.write()),
        |p| {
            let held = p.get(lock.read());
            p.suspended(|| lock.write(), || drop(held));
        },
    );
    report.wait(
        "RwLock::upgradable_read",
        |p| p.ready(|| lock.upgradable_read()),
        |p| {
            let held = p.get(lock.write());
            p.suspended(|| lock.upgradable_read(), || drop(held));
        },
    );
    report.wait(
        "RwLockUpgradableGuard::upgrade",
        |p| {
            let held = p.get(lock.upgradable_read());
            p.ready(|| raddle_sync::RwLockUpgradableGuard::upgrade(held));
        },
        |p| {
            let (held, other) = (p.get(lock.upgradable_read()), p.get(lock.read()));
            p.suspended(|| raddle_sync::RwLockUpgradableGuard::upgrade(held), || drop(other));
        },
    );
}

fn others(report: &mut Report) {
    let permits = Semaphore::new(4);
    report.wait(
        "Semaphore::acquire",
        |p| p.ready(|| permits.acquire()),
        |p| {
            let held = p.get(permits.acquire_many(4));
            p.suspended(|| permits.acquire(), || drop(held));
        },
    );
    report.wait(
        "Semaphore::acquire_many",
        |p| p.ready(|| permits.acquire_many(3)),
        |p| {
            let held = p.get(permits.acquire_many(2));
            p.suspended(|| permits.acquire_many(3), || drop(held));
        },
    );
    let (lock, condition) = (Mutex::new(0), Condvar::new());
    report.only_suspended("Condvar::wait", |p| {
        let held = p.get(lock.lock());
        p.suspended(|| condition.wait(held), || condition.notify_one());
    });
}
