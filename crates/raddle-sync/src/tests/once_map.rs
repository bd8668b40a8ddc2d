//! The once-map: joined computations, removal under way, vacant keys, and its model.

use std::collections::BTreeMap;
use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock, Weak};

use raddle_base::random::Rng;

use crate::tests::sequences::every_sequence;
use crate::tests::support::{Polled, hostile, now, watchdog};
use crate::{Notify, OnceMap, block_on};

#[test]
fn a_value_is_computed_once_for_a_key() {
    let map = OnceMap::new();
    assert_eq!(now(map.compute("a", || ready(1))), 1);
    assert_eq!(now(map.compute("a", || ready(2))), 1);
    assert_eq!(now(map.try_compute("a", || ready(Err(())))), Ok(1));
    assert_eq!(now(map.try_compute("b", || ready(Err::<i32, _>("no")))), Err("no"));
    assert_eq!((map.len(), map.get("a"), map.get("b")), (1, Some(1), None));
    assert_eq!((map.remove("a"), map.remove("a")), (Some(1), None));
    assert!(map.is_empty());
    let map: OnceMap<String, i32> = OnceMap::default();
    assert_eq!(now(map.compute_ref("c", || ready(3))), 3);
    assert_eq!(now(map.compute_ref("c", || ready(4))), 3);
    assert!(map.contains_key("c"));
    assert_eq!(map.snapshot(), [("c".to_owned(), 3)]);
    map.clear();
    assert!(!map.discard("c"));
}

#[test]
fn of_several_pairs_the_last_one_stays() {
    let map: OnceMap<_, _> = [(1, 'a'), (2, 'b'), (1, 'c')].into_iter().collect();
    assert_eq!((map.len(), map.get(&1), map.get(&2)), (2, Some('c'), Some('b')));
}

#[test]
fn those_who_join_wait_and_are_woken_in_one_round() {
    let map = OnceMap::new();
    let gate = Notify::new();
    let make = || async {
        gate.notified().await;
        7
    };
    let mut calls: Vec<_> = (0..1_000).map(|_| Polled::pending(map.compute(1, make))).collect();
    assert_eq!((map.len(), map.get(&1), map.contains_key(&1)), (1, None, false));
    gate.notify_one();
    assert_eq!(calls[0].ready(), 7);
    for call in calls[1..].iter_mut().rev() {
        assert_eq!((call.wakes(), call.ready()), (1, 7));
    }
}

#[test]
fn a_failed_or_dropped_attempt_passes_on_and_the_last_one_leaves_the_key_vacant() {
    let map = OnceMap::new();
    let gate = Notify::new();
    let fail = || async {
        gate.notified().await;
        Err::<u8, _>("no")
    };
    let mut first = Polled::pending(map.try_compute(1, fail));
    let second = Polled::pending(map.try_compute(1, fail));
    let mut third = Polled::pending(map.compute(1, || ready(3)));
    gate.notify_one();
    assert_eq!(first.ready(), Err("no"));
    assert_eq!((second.wakes(), third.wakes(), map.len()), (1, 0, 1));
    drop(second);
    assert_eq!((third.wakes(), third.ready()), (1, 3));
    let lonely = Polled::pending(map.compute(2, pending::<u8>));
    let other = Polled::pending(map.compute(2, pending::<u8>));
    drop(lonely);
    assert_eq!(map.len(), 2);
    drop(other);
    assert_eq!(map.len(), 1, "nobody is at it");
    let panics = || -> std::future::Ready<u8> { panic!("an attempt fails") };
    assert!(catch_unwind(AssertUnwindSafe(|| now(map.compute(3, panics)))).is_err());
    assert_eq!(map.len(), 1);
}

#[test]
fn removal_detaches_a_computation_under_way() {
    let map = OnceMap::new();
    let gate = Notify::new();
    let make = || async {
        gate.notified().await;
        1
    };
    let mut leader = Polled::pending(map.compute("a", make));
    let mut joined = Polled::pending(map.compute("a", || ready(0)));
    assert_eq!(map.remove("a"), None, "no value yet");
    assert_eq!(now(map.compute("a", || ready(2))), 2, "anew");
    gate.notify_one();
    assert_eq!((leader.ready(), joined.ready()), (1, 1));
    assert_eq!(map.get("a"), Some(2));
    let detached = Polled::pending(map.compute("b", pending::<u8>));
    assert!(map.discard("b"));
    now(map.compute("b", || ready(3)));
    drop(detached);
    assert_eq!(map.get("b"), Some(3), "one that is detached removes nobody else");
}

/// Computing, failing, giving up, removing and clearing of two keys: every sequence.
#[test]
fn as_its_model() {
    every_sequence(6, 5, |sequence| {
        let map = OnceMap::new();
        let mut model = BTreeMap::new();
        for (number, step) in sequence.iter().enumerate() {
            let key = step % 2;
            match step / 2 {
                0 => {
                    let expected = *model.entry(key).or_insert(number);
                    assert_eq!(now(map.compute(key, || ready(number))), expected);
                }
                1 => {
                    let result = now(map.try_compute(key, || ready(Err(()))));
                    assert_eq!(result.ok(), model.get(&key).copied());
                    let mut waits = Polled::new(map.compute(key, pending));
                    assert_eq!(waits.poll().is_pending(), !model.contains_key(&key));
                }
                _ => assert_eq!(map.remove(&key), model.remove(&key)),
            }
            assert_eq!(map.len(), model.len(), "{sequence:?}");
            assert_eq!(map.get(&key), model.get(&key).copied());
        }
    });
}

/// A value whose clone and drop use the map it lies in.
struct Reenters(Weak<OnceLock<OnceMap<u8, Reenters>>>);

impl Reenters {
    fn enter(&self) {
        if let Some(map) = self.0.upgrade().as_deref().and_then(OnceLock::get) {
            map.len();
            map.discard(&9);
            map.contains_key(&1);
        }
    }
}

impl Clone for Reenters {
    fn clone(&self) -> Self {
        self.enter();
        Reenters(self.0.clone())
    }
}

impl Drop for Reenters {
    fn drop(&mut self) {
        self.enter();
    }
}

#[test]
fn foreign_code_runs_under_no_lock() {
    watchdog(|| {
        let map = Arc::new(OnceLock::new());
        map.set(OnceMap::<u8, Reenters>::new()).unwrap_or_else(|_| unreachable!());
        let inner = map.get().unwrap();
        let make = || ready(Reenters(Arc::downgrade(&map)));
        drop(now(inner.compute(1, make)));
        drop(inner.get(&1));
        drop(inner.snapshot());
        inner.discard(&1);
        drop(now(inner.compute(1, make)));
        inner.clear();
        let weak = Arc::downgrade(&map);
        let waker = hostile(move |_| {
            if let Some(map) = weak.upgrade() {
                let map = map.get().unwrap();
                let _ = Polled::new(map.compute(2, pending)).poll();
                map.discard(&2);
            }
        });
        let mut first = Polled::new(inner.compute(2, pending));
        let mut second = Polled::new(inner.compute(2, make));
        let _ = first.poll_with(&waker);
        let _ = second.poll_with(&waker);
        drop(first);
    });
}

#[test]
fn threads_compute_each_key_once() {
    watchdog(|| {
        let shared = Arc::new((OnceMap::new(), AtomicUsize::new(0)));
        let threads: Vec<_> = (0..4)
            .map(|seed| {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    let mut rng = Rng::new(seed);
                    for _ in 0..2_000 {
                        let key = rng.below(500);
                        let value = block_on(shared.0.compute(key, || async {
                            shared.1.fetch_add(1, SeqCst);
                            key * 2
                        }));
                        assert_eq!(value, key * 2);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(shared.1.load(SeqCst), shared.0.len());
    });
}

#[test]
fn each_map_hashes_with_a_seed_of_its_own() {
    use crate::once_map::DefaultBuildHasher;
    use std::hash::BuildHasher;
    let hashers: Vec<_> = (0..8).map(|_| DefaultBuildHasher::new()).collect();
    let hashes: std::collections::BTreeSet<_> = hashers.iter().map(|one| one.hash_one(7)).collect();
    assert_eq!(hashes.len(), 8);
    assert!(hashers.iter().all(|one| one.clone().hash_one("key") == one.hash_one("key")));
}
