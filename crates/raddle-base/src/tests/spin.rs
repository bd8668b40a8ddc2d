//! The spinning lock excludes and publishes.

use super::*;
use crate::shim::{Arc, model, thread};

#[test]
fn model_two_threads_exclude_each_other() {
    model::check(|| {
        let lock = Arc::new(SpinLock::new(0u32));
        let theirs = lock.clone();
        let other = thread::spawn(move || theirs.with(|count| *count += 1));
        lock.with(|count| *count += 1);
        other.join().unwrap();
        assert_eq!(lock.with(|count| *count), 2);
    });
}

#[cfg(not(loom))]
#[test]
fn a_panic_releases_it() {
    let lock = SpinLock::new(1);
    let panics = || lock.with(|_| panic!("under the lock"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
    assert_eq!(lock.with(|value| *value), 1);
}

#[cfg(not(loom))]
#[test]
fn four_threads_count() {
    let lock = SpinLock::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..10_000).for_each(|_| lock.with(|count| *count += 1)));
        }
    });
    assert_eq!(lock.with(|count| *count), 40_000);
}
