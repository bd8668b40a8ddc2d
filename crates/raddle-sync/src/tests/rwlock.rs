//! The reader–writer lock on one thread and on several: what is allowed together, guards, upgrade
//! and downgrade, giving up, hostile company.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::task::Waker;
use std::time::Duration;

use raddle_base::wait::WakeBatch;

use super::{MappedWriteGuard, ReadGuard, UpgradableGuard, WriteGuard};
use crate::tests::support::{Polled, hostile, now, refusing, watchdog};
use crate::{CancelExt, CancellationToken, RwLock, RwLockReadGuard};

const MANY: usize = 3 * WakeBatch::CAPACITY + 1;

#[test]
fn many_readers_or_one_writer() {
    let lock = RwLock::new(1);
    {
        let (one, other) = (now(lock.read()), lock.try_read().unwrap());
        assert_eq!(*one + *other, 2);
        assert!(lock.try_write().is_none());
        let upgradable = lock.try_upgradable_read().unwrap();
        assert!(lock.try_upgradable_read().is_none());
        assert!(lock.try_read().is_some());
        assert_eq!(*upgradable, 1);
    }
    {
        let mut writer = now(lock.write());
        *writer = 5;
        assert!(lock.try_read().is_none() && lock.try_write().is_none());
        assert!(lock.try_upgradable_read().is_none());
        assert_eq!(
            format!("{lock:?}"),
            "RwLock { data: <locked>, readers: 0, writer: true, waiters: false }"
        );
    }
    assert_eq!(*lock.try_read().unwrap(), 5);
    assert!(format!("{lock:?}").contains("data: 5"));
    let mut lock = lock;
    *lock.get_mut() += 1;
    assert_eq!(lock.into_inner(), 6);
    assert_eq!(*RwLock::<u8>::default().try_read().unwrap(), 0);
    assert_eq!(*RwLock::from(3).try_write().unwrap(), 3);
}

#[test]
fn owned_guards_keep_the_lock_alive() {
    let lock = Arc::new(RwLock::new(vec![1, 2]));
    let weak = Arc::downgrade(&lock);
    let guard = now(lock.clone().read_owned());
    assert!(Arc::ptr_eq(ReadGuard::rwlock(&guard), &lock));
    drop(guard);
    let mut guard = now(lock.clone().write_owned());
    guard.push(3);
    let guard = MappedWriteGuard::map(WriteGuard::map(guard, |v| v.as_mut_slice()), |v| &mut v[2]);
    assert_eq!(*guard, 3);
    drop(guard);
    let guard = now(lock.clone().upgradable_read_owned());
    let guard = now(UpgradableGuard::upgrade(guard));
    let guard = WriteGuard::downgrade(guard);
    assert!(lock.clone().try_write_owned().is_none());
    assert!(lock.clone().try_upgradable_read_owned().is_some());
    drop(lock.clone().try_read_owned().unwrap());
    drop(lock);
    let guard = ReadGuard::map(guard, |v| &v[0]);
    assert_eq!((*guard, weak.strong_count()), (1, 1));
    drop(guard);
    assert_eq!(weak.strong_count(), 0);
}

#[test]
fn guards_of_parts_release_the_whole() {
    let lock = RwLock::new((1, String::from("two")));
    let guard = ReadGuard::map(now(lock.read()), |both| both.1.as_str());
    assert_eq!(format!("{guard} {guard:?}"), "two \"two\"");
    let guard = ReadGuard::try_map(guard, |text| text.get(9..)).unwrap_err();
    let guard = ReadGuard::try_map(guard, |text| text.get(1..)).unwrap();
    assert_eq!(&*guard, "wo");
    assert!(lock.try_write().is_none());
    drop(guard);
    let guard = WriteGuard::try_map(now(lock.write()), |_| None::<&mut u8>).unwrap_err();
    let mut guard = WriteGuard::map(guard, |both| &mut both.0);
    *guard += 1;
    let guard = MappedWriteGuard::try_map(guard, |_| None::<&mut u8>).unwrap_err();
    drop(guard);
    assert_eq!(lock.try_read().unwrap().0, 2);
    // A panic in the closure leaves the guard, which releases.
    let guard = lock.try_write().unwrap();
    let mapped = AssertUnwindSafe(|| WriteGuard::map(guard, |_| -> &mut u8 { panic!("no part") }));
    assert!(catch_unwind(mapped).is_err());
    assert!(lock.try_write().is_some());
}

#[test]
fn an_upgrade_waits_for_the_readers_and_for_nobody_else() {
    let lock = RwLock::new(0);
    let reader = now(lock.read());
    let upgradable = now(lock.upgradable_read());
    let mut writer = Polled::pending(lock.write());
    let mut second = Polled::pending(lock.upgradable_read());
    let upgradable = UpgradableGuard::try_upgrade(upgradable).unwrap_err();
    let mut upgrade = Polled::pending(UpgradableGuard::upgrade(upgradable));
    let mut late = Polled::pending(lock.read());
    drop(reader);
    assert_eq!((upgrade.wakes(), writer.wakes()), (1, 0));
    let mut guard = upgrade.ready();
    *guard = 1;
    drop((guard, upgrade));
    let seen = late.ready();
    assert_eq!(*seen, 1, "readers after a writer");
    assert!(writer.poll().is_pending() && second.poll().is_pending());
    drop(seen);
    *writer.ready() = 2;
    assert_eq!(*second.ready(), 2);
    drop((writer, second));
    assert!(lock.try_write().is_some());
    let guard = UpgradableGuard::try_upgrade(now(lock.upgradable_read())).unwrap();
    let guard = WriteGuard::downgrade_to_upgradable(guard);
    assert!(lock.try_read().is_some() && lock.try_upgradable_read().is_none());
    let guard = UpgradableGuard::downgrade(guard);
    assert!(lock.try_upgradable_read().is_some() && lock.try_write().is_none());
    drop(guard);
    assert!(lock.try_write().is_some());
}

#[test]
fn a_dropped_upgrade_releases_the_lock_at_every_stage() {
    let lock = RwLock::new(0);
    for stage in 0..4 {
        let reader = now(lock.read());
        let mut upgrade =
            Polled::new(UpgradableGuard::upgrade(lock.try_upgradable_read().unwrap()));
        if stage > 0 {
            assert!(upgrade.poll().is_pending());
            assert!(lock.try_read().is_none());
        }
        let reader = (stage < 2).then_some(reader);
        if stage == 3 {
            drop(upgrade.ready());
        }
        drop(upgrade);
        assert!(lock.try_upgradable_read().is_some(), "{stage}");
        assert_eq!(lock.try_write().is_some(), reader.is_none());
    }
    assert_eq!(lock.raw.state(), (0, false, false));
}

#[test]
fn a_downgrade_lets_readers_in_and_no_writer() {
    let lock = RwLock::new(0);
    let mut guard = now(lock.write());
    let mut readers: Vec<_> = (0..3).map(|_| Polled::pending(lock.read())).collect();
    let mut writer = Polled::pending(lock.write());
    *guard = 7;
    let guard = WriteGuard::downgrade(guard);
    for reader in &mut readers {
        assert_eq!(*reader.ready(), 7);
    }
    assert!(writer.poll().is_pending());
    drop(readers);
    assert!(writer.poll().is_pending());
    assert_eq!(*guard, 7);
    drop(guard);
    drop(writer.ready());
    // An upgradable reader that becomes a plain one lets the next upgradable one in.
    let guard = now(lock.upgradable_read());
    let mut next = Polled::pending(lock.upgradable_read());
    let guard = UpgradableGuard::downgrade(guard);
    drop(next.ready());
    drop(guard);
    assert_eq!(lock.raw.state(), (0, false, false));
}

#[test]
fn tokens_end_waits_and_take_nothing() {
    let (lock, token) = (RwLock::new(0), CancellationToken::new());
    let guard = now(lock.write());
    let mut wait = Polled::pending(lock.write().cancel_on(&token));
    token.cancel();
    drop(guard);
    assert!(wait.ready().is_ok(), "the lock came first to the wait");
    assert!(now(lock.read().cancel_on(&token)).is_err());
    assert!(lock.try_write().is_some());
}

#[test]
fn blocking_and_timed() {
    watchdog(|| {
        let lock = Arc::new(RwLock::new(0));
        let guard = lock.blocking_write();
        assert!(lock.blocking_read_timeout(Duration::from_millis(1)).is_none());
        assert!(lock.blocking_write_timeout(Duration::from_millis(1)).is_none());
        let theirs = lock.clone();
        let thread = std::thread::spawn(move || {
            let upgradable = theirs.blocking_upgradable_read();
            *UpgradableGuard::blocking_upgrade(upgradable) += 1;
        });
        drop(guard);
        thread.join().unwrap();
        assert_eq!(*lock.blocking_read(), 1);
        assert!(lock.blocking_write_timeout(Duration::ZERO).is_some());
    });
}

#[test]
fn hostile_wakers_may_do_anything() {
    watchdog(|| {
        let lock = Arc::new(RwLock::new(0));
        let make = || {
            let lock = Arc::downgrade(&lock);
            hostile(move |_| {
                let Some(lock) = lock.upgrade() else { return };
                let mut waits = (Polled::new(lock.read()), Polled::new(lock.write()));
                let _ = (waits.0.poll_with(Waker::noop()), waits.1.poll_with(Waker::noop()));
                let _ = (lock.try_read().is_some(), lock.try_upgradable_read().is_some());
                drop(waits);
            })
        };
        for round in 0..6 {
            let guard = (round % 2 == 0).then(|| now(lock.write()));
            let reader = lock.try_read();
            let mut reads: Vec<_> = (0..3).map(|_| Polled::new(lock.read())).collect();
            let mut writes: Vec<_> = (0..2).map(|_| Polled::new(lock.write())).collect();
            for _ in 0..2 {
                reads.iter_mut().for_each(|one| drop(one.poll_with(&make())));
                writes.iter_mut().for_each(|one| drop(one.poll_with(&make())));
            }
            drop((guard, reader));
            drop((writes, reads));
            assert_eq!(lock.raw.state(), (0, false, false));
        }
    });
}

#[test]
fn a_panicking_waker_strands_nobody() {
    let lock = RwLock::new(0);
    let guard = now(lock.write());
    let mut bad = Polled::new(lock.read());
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut readers: Vec<_> = (0..MANY).map(|_| Polled::pending(lock.read())).collect();
    assert!(catch_unwind(AssertUnwindSafe(|| drop(guard))).is_err());
    readers.iter_mut().for_each(|one| drop(one.ready()));
    let mut writer = Polled::pending(lock.write());
    drop(readers);
    drop(bad);
    drop(writer.ready());
}

#[test]
fn ten_thousand_wait_at_once() {
    let lock = RwLock::new(0);
    let guard = now(lock.write());
    let mut readers: Vec<_> = (0..10_000).map(|_| Polled::pending(lock.read())).collect();
    let mut writers: Vec<_> = (0..10_000).map(|_| Polled::pending(lock.write())).collect();
    drop(guard);
    let guards: Vec<_> = readers.iter_mut().map(Polled::ready).collect();
    assert_eq!(lock.raw.state(), (10_000, false, true));
    drop(guards);
    writers.iter_mut().for_each(|one| *one.ready() += 1);
    assert_eq!(*lock.try_read().unwrap(), 10_000);
}

#[test]
fn too_many_readers_are_refused() {
    let lock = RwLock::new(());
    // As if so many guards had been forgotten.
    lock.raw.word().store(super::word::MAX_READERS * super::word::ONE, Relaxed);
    assert!(lock.try_read().is_none() && lock.try_upgradable_read().is_none());
    let wait = AssertUnwindSafe(|| Polled::new(lock.read()).poll().is_ready());
    assert!(catch_unwind(wait).is_err());
    assert_eq!(lock.raw.state(), (super::word::MAX_READERS, false, false));
}

#[test]
fn threads_read_and_write() {
    const ROUNDS: usize = if cfg!(miri) { 20 } else { 2_000 };
    watchdog(|| {
        for prefer in [false, true] {
            let make = if prefer { RwLock::preferring_writers } else { RwLock::new };
            let lock = Arc::new(make((0_usize, 0_usize)));
            let inside = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..5)
                .map(|i| {
                    let (lock, inside) = (lock.clone(), inside.clone());
                    std::thread::spawn(move || {
                        for round in 0..ROUNDS {
                            match (i + round) % 4 {
                                0 => write(&mut lock.blocking_write(), &inside),
                                1 => {
                                    let guard = lock.blocking_upgradable_read();
                                    let mut guard = UpgradableGuard::blocking_upgrade(guard);
                                    write(&mut guard, &inside);
                                    let guard = WriteGuard::downgrade(guard);
                                    assert_eq!(guard.0, guard.1);
                                }
                                _ => {
                                    let guard = lock.blocking_read();
                                    assert_eq!(inside.load(SeqCst), 0);
                                    assert_eq!(guard.0, guard.1);
                                }
                            }
                        }
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(lock.raw.state(), (0, false, false));
            assert_eq!(lock.try_read().unwrap().0, 5 * ROUNDS / 2);
        }
    });
}

/// A waker that panics does so after the lock has passed on: what the one who caused it held or was
/// granted is released once, and only once.
#[test]
fn a_waker_that_panics_leaves_the_counts_right() {
    // An upgrade that was granted and is dropped, with another upgradable reader behind.
    let lock = RwLock::new(0);
    let upgradable = lock.try_upgradable_read().unwrap();
    let reader = lock.try_read().unwrap();
    let upgrade = Polled::pending(UpgradableGuard::upgrade(upgradable));
    let mut bad = Polled::new(lock.upgradable_read());
    assert!(bad.poll_with(&refusing()).is_pending());
    drop(reader);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(upgrade))).is_err());
    let guard = bad.ready();
    assert_eq!(lock.raw.state(), (1, false, false));
    assert!(lock.try_write().is_none(), "beside a reader");
    drop(guard);
    assert_eq!(lock.raw.state(), (0, false, false));
    // What stays of a hold when it becomes a lesser one.
    for lesser in 0..3 {
        let mut bad = Polled::new(lock.upgradable_read());
        let writer = || lock.try_write().unwrap();
        let mut wait = || assert!(bad.poll_with(&refusing()).is_pending());
        let result = match lesser {
            0 => {
                let writer = writer();
                wait();
                catch_unwind(AssertUnwindSafe(|| drop(WriteGuard::downgrade(writer))))
            }
            1 => {
                let mut reader = Polled::new(lock.read());
                let writer = writer();
                assert!(reader.poll_with(&refusing()).is_pending());
                let down = || drop(WriteGuard::downgrade_to_upgradable(writer));
                let result = catch_unwind(AssertUnwindSafe(down));
                drop(reader.ready());
                result
            }
            _ => {
                let upgradable = lock.try_upgradable_read().unwrap();
                wait();
                catch_unwind(AssertUnwindSafe(|| drop(UpgradableGuard::downgrade(upgradable))))
            }
        };
        assert!(result.is_err());
        if lesser != 1 {
            drop(bad.ready());
        }
        assert_eq!(lock.raw.state(), (0, false, false), "case {lesser}");
    }
}

fn write(pair: &mut (usize, usize), inside: &AtomicUsize) {
    assert_eq!(inside.fetch_add(1, SeqCst), 0);
    pair.0 += 1;
    pair.1 += 1;
    inside.fetch_sub(1, SeqCst);
}

#[test]
fn sizes_and_auto_traits() {
    fn shared<T: Send + Sync>(_: &T) {}
    // A guard that reads is covariant.
    fn shorter<'a>(guard: RwLockReadGuard<'a, &'static str>) -> RwLockReadGuard<'a, &'a str> {
        guard
    }
    assert_eq!(size_of::<RwLock<()>>(), 24);
    assert_eq!(size_of::<RwLock<u64>>(), 32);
    let lock = Arc::new(RwLock::new(1));
    shared(&lock);
    shared(&(lock.read(), lock.clone().read_owned()));
    shared(&(lock.write(), lock.clone().write_owned()));
    shared(&lock.try_upgradable_read());
    shared(&lock.try_write());
    let lock = RwLock::new("text");
    assert_eq!(*shorter(lock.try_read().unwrap()), "text");
    let unsized_lock: &RwLock<[u8]> = &RwLock::new([1, 2, 3]);
    assert_eq!(unsized_lock.try_read().unwrap().len(), 3);
}
