//! A limit of readers: never more, in order, with no place left empty while somebody waits for one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use raddle_base::wait::WakeBatch;

use super::{Read, UpgradableGuard, WriteGuard};
use crate::tests::support::{Polled, now, refusing, watchdog};
use crate::{OwnedRwLockReadGuard, RwLock};

type Lock = Arc<RwLock<u32>>;

fn make(limit: usize) -> Lock {
    Arc::new(RwLock::with_max_readers(0, limit as u32))
}

fn readers(lock: &Lock, count: usize) -> Vec<Polled<Read<Lock>>> {
    (0..count).map(|_| Polled::pending(lock.clone().read_owned())).collect()
}

fn woken(waits: &[Polled<Read<Lock>>]) -> usize {
    waits.iter().filter(|one| one.wakes() > 0).count()
}

#[test]
fn no_more_than_the_limit_and_in_order() {
    let lock = make(2);
    let first = now(lock.read());
    let second = lock.try_read().unwrap();
    assert!(lock.try_read().is_none() && lock.try_upgradable_read().is_none());
    let mut waits = readers(&lock, 3);
    drop(first);
    assert_eq!(waits.iter().map(Polled::wakes).collect::<Vec<_>>(), [1, 0, 0]);
    assert!(lock.try_read().is_none(), "the place was handed over");
    drop(waits.remove(0));
    assert_eq!(waits.iter().map(Polled::wakes).collect::<Vec<_>>(), [1, 0], "and passed on");
    drop(waits.pop());
    drop(second);
    assert!(lock.try_read().is_some(), "nobody waits any longer");
    drop(waits.remove(0).ready());
    assert!(lock.try_write().is_some());
    assert_eq!(lock.raw.state(), (0, false, false));
}

/// As many as there are places go in, more than a batch of wakes holds; the writer comes next, then
/// the others.
#[test]
fn a_group_of_readers_has_as_many_members_as_there_are_places() {
    const LIMIT: usize = 2 * WakeBatch::CAPACITY + 5;
    let lock = make(LIMIT);
    for downgraded in [false, true] {
        let guard = now(lock.clone().write_owned());
        let mut waits = readers(&lock, LIMIT + 7);
        let mut writer = Polled::pending(lock.write());
        let stays = match downgraded {
            true => Some(WriteGuard::downgrade(guard)),
            false => {
                drop(guard);
                None
            }
        };
        let group = LIMIT - usize::from(downgraded);
        assert_eq!(woken(&waits), group);
        assert_eq!(lock.raw.state(), (LIMIT as u32, false, true));
        let mut rest = waits.split_off(group);
        for mut one in waits {
            drop(one.ready());
            assert_eq!(woken(&rest), 0, "places are kept for the writer");
        }
        drop(stays);
        drop(writer.ready());
        rest.iter_mut().for_each(|one| drop(one.ready()));
        drop(writer);
        assert_eq!(lock.raw.state(), (0, false, false));
    }
}

#[test]
fn writers_before_readers_where_they_are_preferred() {
    let lock: Lock = Arc::new(RwLock::preferring_writers_with_max_readers(0, 2));
    let first = now(lock.clone().write_owned());
    let mut waits = readers(&lock, 3);
    let mut writer = Polled::pending(lock.write());
    drop(first);
    let guard = writer.ready();
    assert_eq!(woken(&waits), 0);
    drop(guard);
    assert_eq!(woken(&waits), 2);
    waits.iter_mut().for_each(|one| drop(one.ready()));
}

#[test]
fn a_writer_that_gives_up_leaves_no_place_empty() {
    let lock = make(3);
    let guard = now(lock.read());
    let writer = Polled::pending(lock.write());
    let mut waits = readers(&lock, 3);
    drop(writer);
    assert_eq!(woken(&waits), 2);
    drop(guard);
    waits.iter_mut().for_each(|one| drop(one.ready()));
}

#[test]
fn an_upgradable_reader_takes_a_place_and_its_turn() {
    let lock = make(1);
    let upgradable = now(lock.upgradable_read());
    assert!(lock.try_read().is_none());
    let guard = UpgradableGuard::try_upgrade(upgradable).unwrap();
    let upgradable = WriteGuard::downgrade_to_upgradable(guard);
    let mut plain = readers(&lock, 3);
    let mut others: Vec<_> = (0..3).map(|_| Polled::pending(lock.upgradable_read())).collect();
    // Neither side keeps the other waiting for ever.
    drop(UpgradableGuard::downgrade(upgradable));
    for turn in 0..3 {
        let guard = plain[turn].ready();
        assert!(others.iter().skip(turn).all(|one| one.wakes() == 0));
        drop(guard);
        let guard = others[turn].ready();
        assert_eq!(woken(&plain), turn + 1);
        drop(UpgradableGuard::downgrade(guard));
    }
    assert_eq!(lock.raw.state(), (0, false, false));
}

/// Beside an upgradable reader plain ones come and go, though another upgradable one waits.
#[test]
fn a_line_for_something_else_keeps_no_reader_out() {
    let lock = make(3);
    let upgradable = now(lock.upgradable_read());
    let mut other = Polled::pending(lock.upgradable_read());
    drop(now(lock.read()));
    let reader = now(lock.read());
    let mut upgrade = Polled::pending(UpgradableGuard::upgrade(upgradable));
    drop(reader);
    drop(upgrade.ready());
    drop(other.ready());
    assert_eq!(lock.raw.state(), (0, false, false));
}

#[test]
fn the_largest_limit() {
    const MOST: u32 = RwLock::<()>::MAX_LIMIT;
    let lock = Arc::new(RwLock::with_max_readers(0, MOST));
    let guards: Vec<_> = (0..MOST).map(|_| lock.try_read().unwrap()).collect();
    assert_eq!(lock.raw.state(), (MOST, false, false));
    assert!(lock.try_read().is_none() && lock.try_write().is_none());
    let mut late = Polled::pending(lock.read());
    drop(guards);
    drop(late.ready());
    assert!(lock.try_write().is_some());
}

#[test]
fn a_panicking_waker_strands_nobody() {
    const LIMIT: usize = 2 * WakeBatch::CAPACITY;
    let lock = make(LIMIT);
    let guard = now(lock.write());
    let mut bad = Polled::new(lock.read());
    assert!(bad.poll_with(&refusing()).is_pending());
    let mut waits = readers(&lock, LIMIT);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(guard))).is_err());
    drop(bad.ready());
    waits.iter_mut().for_each(|one| drop(one.ready()));
    assert_eq!(lock.raw.state(), (0, false, false));
}

#[test]
fn threads_stay_within_the_limit() {
    const ROUNDS: usize = if cfg!(miri) { 20 } else { 1_000 };
    watchdog(|| {
        for limit in 1..4 {
            let (lock, inside) = (make(limit), Arc::new(AtomicUsize::new(0)));
            let read = {
                let inside = inside.clone();
                move |guard: OwnedRwLockReadGuard<u32>| {
                    assert!(inside.fetch_add(1, SeqCst) < limit);
                    std::hint::black_box(*guard);
                    inside.fetch_sub(1, SeqCst);
                }
            };
            let threads: Vec<_> = (0..5)
                .map(|i| {
                    let (lock, read) = (lock.clone(), read.clone());
                    std::thread::spawn(move || {
                        for round in 0..ROUNDS {
                            match (i + round) % 8 {
                                0 => *lock.blocking_write() += 1,
                                1 => {
                                    let guard = lock.blocking_upgradable_read();
                                    *UpgradableGuard::blocking_upgrade(guard) += 1;
                                }
                                _ => read(crate::block_on(lock.clone().read_owned())),
                            }
                        }
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(lock.raw.state(), (0, false, false));
            assert_eq!(*lock.try_read().unwrap() as usize, 5 * ROUNDS / 4);
        }
    });
}
