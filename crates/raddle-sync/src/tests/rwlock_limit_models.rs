//! The limit of readers under the model checker. With a limit of one, readers exclude each other as
//! writers do: they may write plain data, which fails the model where two are in at once.

use std::pin::pin;
use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::rwlock::{RwLock, UpgradableGuard};
use crate::tests::model::{Plain, poll_once, wait, wait_pinned};

struct Shared {
    lock: Arc<RwLock<()>>,
    data: Plain,
}

fn shared(limit: u32) -> Arc<Shared> {
    Arc::new(Shared { lock: Arc::new(RwLock::with_max_readers((), limit)), data: Plain::new() })
}

/// The only one inside.
fn alone(shared: &Shared) {
    let guard = wait(shared.lock.read());
    shared.data.add(1);
    drop(guard);
}

fn write(shared: &Shared) {
    let guard = wait(shared.lock.write());
    shared.data.add(1);
    drop(guard);
}

fn is_free(shared: &Shared) -> bool {
    shared.lock.raw.state() == (0, false, false) && shared.lock.try_write().is_some()
}

/// Readers by the fast path or the queue, and a place that passes from one to the next.
#[test]
fn model_limit_excludes() {
    model::check(|| {
        let shared = shared(1);
        let other = thread::spawn({
            let shared = shared.clone();
            move || alone(&shared)
        });
        alone(&shared);
        other.join().unwrap();
        assert_eq!(wait_for_data(&shared), 2);
        assert!(is_free(&shared));
    });
}

fn wait_for_data(shared: &Shared) -> usize {
    let guard = wait(shared.lock.read());
    let seen = shared.data.get();
    drop(guard);
    seen
}

/// A reader leaves while another goes to sleep for its place, and a third looks in.
#[test]
fn model_limit_reader_goes_to_sleep() {
    model::check(|| {
        let shared = shared(1);
        let guard = wait(shared.lock.read());
        let other = thread::spawn({
            let shared = shared.clone();
            move || alone(&shared)
        });
        let third = thread::spawn({
            let shared = shared.clone();
            move || shared.lock.try_read().map(|_guard| shared.data.add(1)).is_some()
        });
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        let came_in = third.join().unwrap();
        assert_eq!(wait_for_data(&shared), 2 + usize::from(came_in));
        assert!(is_free(&shared));
    });
}

/// One of two readers leaves while a third goes to sleep for a place: it gets that of the first,
/// though the second stays.
#[test]
fn model_limit_place_passes_on() {
    model::check(|| {
        let shared = shared(2);
        let leaves = wait(shared.lock.clone().read_owned());
        let stays = wait(shared.lock.read());
        let other = thread::spawn({
            let shared = shared.clone();
            move || wait_for_data(&shared)
        });
        drop(leaves);
        other.join().unwrap();
        drop(stays);
        assert!(is_free(&shared));
    });
}

/// A writer leaves to a group of one, behind which a second reader waits, and another one comes in
/// by itself when they are gone.
#[test]
fn model_limit_writer_hands_over() {
    model::check(|| {
        let shared = shared(1);
        let guard = wait(shared.lock.write());
        let mut first = Box::pin(shared.lock.read());
        assert!(poll_once(first.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.lock.try_read().map(|_guard| shared.data.add(1)).is_some()
        });
        shared.data.add(1);
        drop(guard);
        let guard = wait_pinned(first.as_mut());
        shared.data.add(1);
        drop(guard);
        drop(first);
        let came_in = other.join().unwrap();
        assert_eq!(wait_for_data(&shared), 2 + usize::from(came_in));
        assert!(is_free(&shared));
    });
}

/// A writer leaves while the only reader that waited gives up, which then comes in by itself.
#[test]
fn model_limit_comes_in_after_a_writer_left_alone() {
    model::check(|| {
        let shared = shared(1);
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
        // As in `model_rwlock_comes_in_after_a_writer_left_alone`.
        thread::yield_now();
        if let Some(_guard) = shared.lock.try_read() {
            assert_eq!(shared.data.get(), 1);
        }
        other.join().unwrap();
        assert!(is_free(&shared));
    });
}

/// More readers than a batch holds and than there are places, of which one gives up while others
/// are let in; a writer comes meanwhile.
#[test]
fn model_limit_group_against_cancel() {
    model::check(|| {
        let shared = shared(2);
        let guard = wait(shared.lock.write());
        let mut first = Box::pin(shared.lock.clone().read_owned());
        let mut second = Box::pin(shared.lock.read());
        let mut third = Box::pin(shared.lock.read());
        assert!(poll_once(first.as_mut()).is_pending());
        assert!(poll_once(second.as_mut()).is_pending());
        assert!(poll_once(third.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                drop(first);
                write(&shared);
            }
        });
        drop(guard);
        let (second, third) = (wait_pinned(second.as_mut()), third);
        shared.data.get();
        drop(third);
        drop(second);
        other.join().unwrap();
        assert_eq!(wait_for_data(&shared), 1);
        assert!(is_free(&shared));
    });
}

/// Two readers leave a full lock, behind which a writer waits: the last one out hands over for
/// both.
#[test]
fn model_limit_last_readers_hand_over() {
    model::check(|| {
        let shared = shared(2);
        let first = wait(shared.lock.clone().read_owned());
        let second = wait(shared.lock.read());
        let mut writer = pin!(shared.lock.write());
        assert!(poll_once(writer.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.data.get();
                drop(first);
            }
        });
        shared.data.get();
        drop(second);
        let guard = wait_pinned(writer);
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        assert!(is_free(&shared));
    });
}

/// For one place an upgradable reader and a plain one wait, and one of them gives up.
#[test]
fn model_limit_upgradable_takes_turns() {
    model::check(|| {
        let shared = shared(1);
        let inside = wait(shared.lock.upgradable_read());
        let mut gives_up = Box::pin(shared.lock.clone().upgradable_read_owned());
        assert!(poll_once(gives_up.as_mut()).is_pending());
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                drop(gives_up);
                alone(&shared);
            }
        });
        shared.data.add(1);
        drop(UpgradableGuard::downgrade(inside));
        let guard = wait(shared.lock.upgradable_read());
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        assert_eq!(wait_for_data(&shared), 3);
        assert!(is_free(&shared));
    });
}

/// The one inside leaves while another gives up the first place in a line: either lets the reader
/// in that waits, who has seen what the one inside did.
#[test]
fn model_limit_given_up_in_place_of_the_one_inside() {
    model::check(|| {
        let shared = shared(1);
        let inside = wait(shared.lock.clone().upgradable_read_owned());
        let mut reader = pin!(shared.lock.read());
        let other = {
            let mut gives_up = pin!(shared.lock.upgradable_read());
            assert!(poll_once(gives_up.as_mut()).is_pending());
            assert!(poll_once(reader.as_mut()).is_pending());
            let shared = shared.clone();
            thread::spawn(move || {
                shared.data.add(1);
                drop(inside);
            })
        };
        let guard = wait_pinned(reader);
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        assert!(is_free(&shared));
    });
}

/// Whoever lets a group in counts as one of it: the last reader that is in already leaves, and a
/// writer waits, while the second one of the group is still to be let in.
#[test]
fn model_limit_group_is_not_cut() {
    model::check(|| {
        let shared = shared(2);
        let guard = wait(shared.lock.clone().write_owned());
        let mut first = Box::pin(shared.lock.read());
        let mut second = Box::pin(shared.lock.read());
        let mut writer = pin!(shared.lock.write());
        assert!(poll_once(first.as_mut()).is_pending());
        assert!(poll_once(second.as_mut()).is_pending());
        assert!(poll_once(writer.as_mut()).is_pending());
        let other = thread::spawn(move || drop(guard));
        let guard = wait_pinned(first.as_mut());
        drop(guard);
        assert!(poll_once(writer.as_mut()).is_pending(), "the second one goes before");
        let guard = wait_pinned(second.as_mut());
        shared.data.get();
        drop(guard);
        let guard = wait_pinned(writer);
        shared.data.add(1);
        drop(guard);
        other.join().unwrap();
        drop((first, second));
        assert!(is_free(&shared));
    });
}
