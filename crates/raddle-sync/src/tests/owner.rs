//! Who waits for itself is told so in debug builds, with its name, the lock and the place; who
//! does not is not. In release builds nothing of it is there.

use std::sync::Arc;
use std::task::Waker;

use raddle_base::context::{self, Place};

use crate::owner::{Report, last_report};
use crate::tests::support::{Counter, Polled, now, watchdog};
use crate::{
    LazyCell, Mutex, Once, OnceCell, RwLock, RwLockUpgradableGuard, RwLockWriteGuard, Semaphore,
    block_on,
};

/// Runs `body` as the poll of the task with this number.
fn as_task<R>(id: u64, body: impl FnOnce() -> R) -> R {
    let _ = last_report();
    let waker = Waker::from(Counter::new());
    let number = Box::new(id);
    // SAFETY: the data below is a number, which lives until the end.
    let id_of = |data: *const ()| unsafe { *data.cast::<u64>() };
    // SAFETY: as above.
    let worker = unsafe { context::enter_worker(waker.vtable(), id_of) };
    context::begin_poll(std::ptr::from_ref(&*number).cast());
    let result = body();
    context::end_poll();
    drop(worker);
    result
}

/// The report, and how many lines above the wait each place is where the lock was taken.
#[track_caller]
fn reported() -> (Report, Vec<i64>) {
    let report = last_report().expect("a report");
    let line = i64::from(report.site.location.line());
    let above = |place: &&std::panic::Location<'_>| line - i64::from(place.line());
    (report, report.places.iter().flatten().map(above).collect())
}

#[test]
fn a_mutex_that_is_locked_twice() {
    let lock = Arc::new(Mutex::new(0));
    as_task(17, || {
        let guard = now(lock.lock());
        let again = Polled::pending(lock.lock());
        let (report, above) = reported();
        assert_eq!(above, [1]);
        let text = report.to_string();
        assert!(text.starts_with("task 17 waits for a lock at "), "{text}");
        assert!(text.matches("tests/owner.rs").count() == 2, "{text}");
        drop((guard, again));
        let guard = lock.try_lock();
        drop(Polled::pending(lock.clone().lock_owned()));
        assert_eq!(reported().1, [1], "taken without waiting");
        drop(guard);
        // The same again, after a wait.
        let guard = now(lock.lock());
        let mut next = Polled::pending(lock.lock());
        drop(guard);
        let (guard, _) = (next.ready(), reported());
        drop(Polled::pending(lock.lock()));
        assert_eq!(reported().1.len(), 1);
        drop(guard);
        drop(now(lock.lock()));
        assert!(last_report().is_none(), "it was free");
    });
}

#[test]
fn a_thread_that_blocks_on_what_it_holds() {
    watchdog(|| {
        let lock = Mutex::new(0);
        let _guard = lock.blocking_lock();
        assert!(lock.blocking_lock_timeout(std::time::Duration::ZERO).is_none());
        let (report, above) = reported();
        assert_eq!(above, [1]);
        let text = report.to_string();
        assert!(text.starts_with("thread ThreadId("), "{text}");
    });
}

#[test]
fn a_lock_that_another_took() {
    let (lock, table) = (Arc::new(Mutex::new(0)), Arc::new(RwLock::new(0)));
    let guard = as_task(1, || now(lock.clone().lock_owned()));
    let reads = as_task(1, || now(table.clone().read_owned()));
    as_task(2, || {
        drop(Polled::pending(lock.lock()));
        drop(Polled::pending(table.write()));
        assert!(last_report().is_none());
        // They came to this task, which lets them go.
        drop((guard, reads));
    });
    as_task(1, || {
        let held = lock.try_lock();
        assert!(held.is_some() && last_report().is_none());
        let theirs = as_task(3, || now(table.read()));
        drop(Polled::pending(table.write()));
        assert!(last_report().is_none(), "what it took was released, by another");
        drop(theirs);
    });
}

#[test]
fn readers_behind_a_writer_of_the_same_task() {
    let lock = RwLock::new(0);
    as_task(5, || {
        let guard = now(lock.read());
        let mut writer = Polled::pending(lock.write());
        assert_eq!(reported().1, [1], "a writer behind its own reader");
        let mut again = Polled::pending(lock.read());
        assert_eq!(reported().1, [3], "a recursive read behind a writer");
        drop(guard);
        drop(writer.ready());
        drop(again.ready());
        let both = (now(lock.read()), now(lock.read()));
        assert!(last_report().is_none(), "nobody waits between them");
        drop(both);
        let guard = now(lock.write());
        drop(Polled::pending(lock.read()));
        assert_eq!(reported().1, [1], "a reader behind its own writer");
        drop(guard);
    });
}

#[test]
fn an_upgrade_beside_another_guard() {
    let lock = RwLock::new(0);
    as_task(6, || {
        let (reads, upgrades) = (now(lock.read()), now(lock.upgradable_read()));
        let upgrade = Polled::pending(RwLockUpgradableGuard::upgrade(upgrades));
        let (report, above) = reported();
        assert_eq!(above, [1, 1]);
        assert!(report.to_string().contains(" and "), "{report}");
        drop((reads, upgrade));
        let theirs = as_task(7, || now(lock.read()));
        let upgrades = now(lock.upgradable_read());
        let mut upgrade = Polled::pending(RwLockUpgradableGuard::upgrade(upgrades));
        assert!(last_report().is_none(), "it waits for another's");
        drop(theirs);
        let writes = upgrade.ready();
        drop(Polled::pending(lock.read()));
        assert_eq!(reported().1.len(), 1);
        drop(writes);
    });
}

#[test]
fn a_value_that_is_made_of_itself() {
    let (once, cell) = (Once::new(), OnceCell::new());
    as_task(8, || {
        let mut outer = Polled::new(once.call_once(|| once.call_once(|| async {})));
        assert!(outer.poll().is_pending());
        let (report, above) = reported();
        assert_eq!(above, [0]);
        let text = report.to_string();
        assert!(text.contains("which it is at itself"), "{text}");
        drop(outer);
        now(once.call_once(|| async {}));
        let make = || async { *cell.get_or_init(|| async { 1 }).await };
        drop(Polled::pending(cell.get_or_init(make)));
        assert_eq!(reported().1.len(), 1);
        let waits = Polled::pending(cell.get_or_init(std::future::pending));
        let other = as_task(9, || Polled::pending(cell.get_or_init(|| async { 2 })));
        assert!(last_report().is_none(), "another is at it");
        drop((waits, other));
        let lazy = Box::pin(LazyCell::new(std::future::pending::<u8>));
        let forced = Polled::pending(lazy.as_ref().force_pin());
        drop(Polled::pending(lazy.as_ref().force_pin()));
        assert_eq!(reported().1.len(), 1);
        drop(forced);
    });
}

#[test]
fn nothing_is_left_behind_by_those_who_let_go() {
    let (lock, table, once) = (Mutex::fair(0), RwLock::new(0), Once::new());
    let round = || {
        drop(now(lock.lock()));
        drop((now(table.read()), now(table.upgradable_read())));
        drop(Polled::pending(once.call_once(std::future::pending)));
        let guard = now(table.write());
        let reads = RwLockWriteGuard::map(guard, |number| number);
        drop(reads);
        let reads = RwLockWriteGuard::downgrade(now(table.write()));
        // Dropped when it is granted, and never polled after.
        let granted = Polled::pending(table.write());
        drop(reads);
        drop(granted);
    };
    (0..10_000).for_each(|_| as_task(10, round));
    as_task(10, || {
        let guard = lock.try_lock();
        drop(Polled::pending(lock.lock()));
        assert_eq!(reported().1.len(), 1, "it was noted, so the table has room");
        drop(guard);
    });
}

#[test]
fn outside_of_tasks_and_blocking_waits_nobody_is_told() {
    let lock = Mutex::new(0);
    let _ = last_report();
    let _guard = lock.try_lock();
    assert_eq!(context::place(), Place::Thread);
    let mut wait = Polled::new(lock.lock());
    assert!(wait.poll_with(Waker::noop()).is_pending());
    assert!(last_report().is_none(), "a foreign runtime, whose tasks have no number");
    block_on(Semaphore::new(1).acquire()).unwrap().forget();
    assert!(last_report().is_none());
}
