//! The reader–writer lock under the model checker, each model named after the race it hunts. What
//! the lock protects is plain data.

use std::pin::pin;
use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::rwlock::{RwLock, UpgradableGuard, WriteGuard};
use crate::tests::model::{Plain, poll_once, wait, wait_pinned};

struct Shared {
    lock: Arc<RwLock<()>>,
    data: Plain,
}

fn shared() -> Arc<Shared> {
    Arc::new(Shared { lock: Arc::new(RwLock::new(())), data: Plain::new() })
}

fn write(shared: &Shared) {
    let guard = wait(shared.lock.write());
    shared.data.add(1);
    drop(guard);
}

fn read(shared: &Shared) -> usize {
    let guard = wait(shared.lock.read());
    let seen = shared.data.get();
    drop(guard);
    seen
}

/// The word and the lines are as in the beginning.
fn is_free(shared: &Shared) -> bool {
    shared.lock.raw.state() == (0, false, false) && shared.lock.try_write().is_some()
}

/// A writer and a reader, each by the fast path or the queue.
#[test]
fn model_rwlock_excludes() {
    model::check(|| {
        let shared = shared();
        let other = thread::spawn({
            let shared = shared.clone();
            move || read(&shared)
        });
        write(&shared);
        other.join().unwrap();
        assert!(is_free(&shared));
    });
}

/// The same with the roles swapped, and two writes.
#[test]
fn model_rwlock_two_writers() {
    model::check(|| {
        let shared = shared();
        let other = thread::spawn({
            let shared = shared.clone();
            move || write(&shared)
        });
        write(&shared);
        other.join().unwrap();
        assert_eq!(read(&shared), 2);
        assert!(is_free(&shared));
    });
}

/// Two readers leave while a writer comes: the last one out hands over for both.
#[test]
fn model_rwlock_last_reader_hands_over() {
    model::check(|| {
        let shared = shared();
        let first = wait(shared.lock.read());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                read(&shared);
            }
        });
        let mut writer = pin!(shared.lock.write());
        let guard = match poll_once(writer.as_mut()) {
            std::task::Poll::Ready(_) => panic!("a reader is inside"),
            std::task::Poll::Pending => {
                assert_eq!(shared.data.get(), 0);
                drop(first);
                wait_pinned(writer)
            }
        };
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        assert!(is_free(&shared));
    });
}

/// A reader inside leaves on its own thread, behind which the writer of this one waits.
#[test]
fn model_rwlock_reader_leaves_against_writer() {
    model::check(|| {
        let shared = shared();
        let others: [_; 2] = std::array::from_fn(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                if let Some(guard) = shared.lock.try_read() {
                    shared.data.get();
                    drop(guard);
                }
            })
        });
        write(&shared);
        for other in others {
            other.join().unwrap();
        }
        assert!(is_free(&shared));
    });
}

/// A writer releases while another one goes to sleep.
#[test]
fn model_rwlock_writer_hands_over() {
    model::check(|| {
        let shared = shared();
        let guard = wait(shared.lock.write());
        let other = thread::spawn({
            let shared = shared.clone();
            move || write(&shared)
        });
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        assert_eq!(read(&shared), 2);
        assert!(is_free(&shared));
    });
}

/// More readers than a batch holds are let in, leave at once, and a writer comes meanwhile.
#[test]
fn model_rwlock_batch_of_readers() {
    model::check(|| {
        let shared = shared();
        let guard = wait(shared.lock.write());
        let mut first = Box::pin(shared.lock.read());
        let mut second = Box::pin(shared.lock.read());
        assert!(poll_once(first.as_mut()).is_pending());
        assert!(poll_once(second.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || write(&shared)
        });
        drop(guard);
        let guard = wait_pinned(first.as_mut());
        shared.data.get();
        drop(guard);
        let guard = wait_pinned(second.as_mut());
        shared.data.get();
        drop(guard);
        other.join().unwrap();
        drop((first, second));
        assert!(is_free(&shared));
    });
}

/// Readers of a batch give up while it is let in: the count comes out right.
#[test]
fn model_rwlock_batch_against_cancel() {
    model::check(|| {
        let shared = shared();
        let guard = wait(shared.lock.write());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let mut first = Box::pin(shared.lock.read());
                let mut second = Box::pin(shared.lock.read());
                drop(poll_once(first.as_mut()));
                drop(poll_once(second.as_mut()));
                drop(second);
                drop(first);
            }
        });
        drop(guard);
        write(&shared);
        other.join().unwrap();
        assert!(is_free(&shared));
    });
}

/// A writer that waits gives up while the reader before it leaves; a reader behind it gets in.
#[test]
fn model_rwlock_cancel_against_release() {
    model::check(|| {
        let shared = shared();
        let guard = wait(shared.lock.read());
        let mut writer = Box::pin(shared.lock.write());
        assert!(poll_once(writer.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || read(&shared)
        });
        let leaver = thread::spawn({
            let shared = shared.clone();
            move || drop(shared.lock.try_read())
        });
        drop(guard);
        drop(writer);
        other.join().unwrap();
        leaver.join().unwrap();
        assert!(is_free(&shared));
    });
}

/// A writer that was granted the lock is dropped unpolled: what it had been given passes on.
#[test]
fn model_rwlock_granted_and_dropped() {
    model::check(|| {
        let shared = shared();
        let guard = wait(shared.lock.write());
        let mut writer = Box::pin(shared.lock.write());
        assert!(poll_once(writer.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || write(&shared)
        });
        shared.data.add(1);
        drop(guard);
        drop(writer);
        other.join().unwrap();
        assert_eq!(read(&shared), 2);
        assert!(is_free(&shared));
    });
}

/// An upgrade waits for a reader that leaves, and nobody writes before it.
#[test]
fn model_rwlock_upgrade_against_readers() {
    model::check(|| {
        let shared = shared();
        let guard = wait(shared.lock.upgradable_read());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                if let Some(guard) = shared.lock.try_read() {
                    shared.data.get();
                    drop(guard);
                }
                write(&shared);
            }
        });
        let seen = shared.data.get();
        let guard = wait(UpgradableGuard::upgrade(guard));
        assert_eq!(shared.data.get(), seen);
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        assert_eq!(read(&shared), 2);
        assert!(is_free(&shared));
    });
}

/// A writer stays as a reader: others that come in see what it wrote.
#[test]
fn model_rwlock_downgrade_publishes() {
    model::check(|| {
        let shared = shared();
        let guard = wait(shared.lock.write());
        let other = thread::spawn({
            let shared = shared.clone();
            move || read(&shared)
        });
        shared.data.add(1);
        let guard = WriteGuard::downgrade(guard);
        assert_eq!(other.join().unwrap(), 1);
        drop(guard);
        assert!(is_free(&shared));
    });
}

/// One upgradable reader after the other: the next one sees what the first one wrote.
#[test]
fn model_rwlock_upgradable_hands_over() {
    model::check(|| {
        let shared = shared();
        let guard = wait(shared.lock.upgradable_read());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let guard = wait(shared.lock.upgradable_read());
                let seen = shared.data.get();
                drop(guard);
                seen
            }
        });
        let guard = UpgradableGuard::downgrade(guard);
        shared.data.get();
        drop(guard);
        write(&shared);
        assert!(other.join().unwrap() <= 1);
        assert!(is_free(&shared));
    });
}

/// A writer gives up its place before several upgradable readers and a reader. The first of them
/// may come and go while the others are let in: of that line one is let in at a time, whom there
/// is room to wake.
#[test]
fn model_rwlock_upgradables_come_and_go_while_readers_go_in() {
    model::check(|| {
        let shared = shared();
        let here = wait(shared.lock.read());
        let mut writer = Box::pin(shared.lock.write());
        assert!(poll_once(writer.as_mut()).is_pending());
        let mut reader = pin!(shared.lock.read());
        assert!(poll_once(reader.as_mut()).is_pending());
        let mut first = Box::pin(shared.lock.clone().upgradable_read_owned());
        assert!(poll_once(first.as_mut()).is_pending());
        let mut second = pin!(shared.lock.upgradable_read());
        assert!(poll_once(second.as_mut()).is_pending());
        let other = thread::spawn(move || drop(poll_once(first.as_mut())));
        drop(writer);
        other.join().unwrap();
        drop(here);
        drop(wait_pinned(reader));
        drop(wait_pinned(second));
        assert!(is_free(&shared));
    });
}

/// An upgradable reader waits for another one, which leaves, beside a plain reader that does too.
#[test]
fn model_rwlock_upgradable_after_another() {
    model::check(|| {
        let shared = shared();
        let first = wait(shared.lock.upgradable_read());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let guard = wait(shared.lock.upgradable_read());
                let guard = wait(crate::RwLockUpgradableGuard::upgrade(guard));
                shared.data.add(1);
                drop(guard);
            }
        });
        let beside = shared.lock.try_read();
        shared.data.get();
        drop(first);
        drop(beside);
        other.join().unwrap();
        assert_eq!(shared.data.get(), 1);
        assert!(is_free(&shared));
    });
}

/// A writer leaves to a batch of readers, and another one comes in by itself beside them.
#[test]
fn model_rwlock_comes_in_beside_a_batch() {
    model::check(|| {
        let shared = shared();
        let guard = wait(shared.lock.write());
        let mut queued = pin!(shared.lock.read());
        assert!(poll_once(queued.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.lock.try_read().map(|_guard| shared.data.get())
        });
        shared.data.add(1);
        drop(guard);
        drop(wait_pinned(queued));
        assert!(other.join().unwrap().is_none_or(|seen| seen == 1));
        assert!(is_free(&shared));
    });
}

/// A writer leaves while the only one that waited gives up, which then comes in by itself.
#[test]
fn model_rwlock_comes_in_after_a_writer_left_alone() {
    model::check(|| {
        let shared = shared();
        let guard = wait(shared.lock.clone().write_owned());
        let other = {
            let mut gives_up = pin!(shared.lock.read());
            assert!(poll_once(gives_up.as_mut()).is_pending());
            let shared = shared.clone();
            thread::spawn(move || {
                shared.data.add(1);
                drop(guard);
            })
        };
        // So that giving up is the last access before the other thread looks, and both orders are
        // tried.
        thread::yield_now();
        if let Some(_guard) = shared.lock.try_read() {
            assert_eq!(shared.data.get(), 1);
        }
        other.join().unwrap();
        assert!(is_free(&shared));
    });
}

/// The last reader leaves on its own thread while the first of two writers gives up: either lets
/// the second one in, and has seen the reader leave.
#[test]
fn model_rwlock_given_up_in_place_of_the_last_reader() {
    model::check(|| {
        let shared = shared();
        let reads = wait(shared.lock.clone().read_owned());
        let mut second = pin!(shared.lock.write());
        let other = {
            let mut first = pin!(shared.lock.write());
            assert!(poll_once(first.as_mut()).is_pending());
            assert!(poll_once(second.as_mut()).is_pending());
            let shared = shared.clone();
            thread::spawn(move || {
                shared.data.get();
                drop(reads);
            })
        };
        let guard = wait_pinned(second);
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        assert!(is_free(&shared));
    });
}

/// Of upgradable readers there is one at a time, also where the first stays as a plain reader: what
/// the one did is visible to the next.
#[test]
fn model_rwlock_upgradable_stays_to_read() {
    model::check(|| {
        let shared = shared();
        let first = wait(shared.lock.upgradable_read());
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.lock.try_upgradable_read().map(|_guard| shared.data.get())
        });
        shared.data.add(1);
        let stays = crate::RwLockUpgradableGuard::downgrade(first);
        assert!(other.join().unwrap().is_none_or(|seen| seen == 1));
        drop(stays);
        assert!(is_free(&shared));
    });
}
