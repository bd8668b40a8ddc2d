//! The wait map under the model checker.

use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use raddle_base::shim::{model, thread};

use crate::tests::model::{Plain, poll_once, wait};
use crate::wait_map::WaitMap;

/// The same shard for the same key in every run: a model must not draw a seed.
type Model = WaitMap<u32, u32, BuildHasherDefault<DefaultHasher>>;

/// A wake at any moment of a wait: it finds nobody and says so, or its value is seen.
#[test]
fn model_wait_map_wake_against_wait() {
    model::check(|| {
        let shared = Arc::new((Model::with_hasher(BuildHasherDefault::default()), Plain::new()));
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.1.add(1);
                let woken = shared.0.wake(&1, 7).is_ok();
                if !woken {
                    shared.0.close();
                }
            }
        });
        let outcome = wait(shared.0.wait(1));
        assert_eq!(shared.1.get(), 1);
        assert!(matches!(outcome, Ok(7) | Err(_)));
        other.join().unwrap();
    });
}

/// One is woken and dropped at the same time: the value reaches the next one.
#[test]
fn model_wait_map_wake_against_cancel() {
    model::check(|| {
        let map = Arc::new(Model::with_hasher(BuildHasherDefault::default()));
        let mut first = Box::pin(map.wait(1));
        assert!(poll_once(first.as_mut()).is_pending());
        let mut second = Box::pin(map.wait(1));
        second.as_mut().enable();
        let other = thread::spawn({
            let map = map.clone();
            move || assert_eq!(map.wake(&1, 7), Ok(()))
        });
        drop(first);
        assert_eq!(crate::tests::model::wait_pinned(second.as_mut()), Ok(7));
        other.join().unwrap();
    });
}
