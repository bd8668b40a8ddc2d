//! Parker: sequential twin and models.

use super::*;
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::shim::cell::UnsafeCell;
use crate::shim::model;
use crate::shim::thread;

struct Shared {
    parker: Parker,
    data: UnsafeCell<u32>,
}

// SAFETY: the tests write `data` before `unpark` and read it after `park`; that this orders the
// two is what the models check.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

fn shared() -> Arc<Shared> {
    Arc::new(Shared { parker: Parker::new(), data: UnsafeCell::new(0) })
}

#[test]
fn model_park_sees_what_unpark_published() {
    model::check(|| {
        let ours = shared();
        let theirs = ours.clone();
        let other = thread::spawn(move || {
            // SAFETY: the reader waits for the token that follows.
            theirs.data.with_mut(|p| unsafe { *p = 7 });
            theirs.parker.unpark();
        });
        ours.parker.park();
        // SAFETY: the token was taken, so the writer is past its write.
        assert_eq!(ours.data.with(|p| unsafe { *p }), 7);
        other.join().unwrap();
    });
}

#[test]
fn model_a_second_unpark_publishes_too() {
    model::check(|| {
        let ours = shared();
        let done = Arc::new(AtomicBool::new(false));
        let (theirs, finished) = (ours.clone(), done.clone());
        let other = thread::spawn(move || {
            theirs.parker.unpark();
            // SAFETY: the reader waits for the token that follows.
            theirs.data.with_mut(|p| unsafe { *p = 7 });
            theirs.parker.unpark();
            // Relaxed: must not be what orders the two; only the parker may.
            finished.store(true, Ordering::Relaxed);
        });
        while !done.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        // Both tokens have been given and are one by now: taking it must show the write.
        ours.parker.park();
        // SAFETY: the merged token was taken.
        assert_eq!(ours.data.with(|p| unsafe { *p }), 7);
        other.join().unwrap();
    });
}

#[test]
fn model_token_is_never_lost() {
    model::check(|| {
        let ours = Arc::new(Parker::new());
        let (one, two) = (ours.clone(), ours.clone());
        let first = thread::spawn(move || one.unpark());
        let second = thread::spawn(move || two.unpark());
        // One token at least is given; waiting for one must end under every interleaving.
        ours.park();
        first.join().unwrap();
        second.join().unwrap();
    });
}

#[cfg(not(loom))]
mod sequential {
    use super::*;
    use std::time::Duration;

    #[test]
    fn tokens_do_not_add_up() {
        let parker = Parker::new();
        parker.unpark();
        parker.unpark();
        parker.park();
        assert!(!parker.try_park());
        assert!(!parker.park_until(Instant::now()));
    }

    #[test]
    fn a_deadline_ends_the_wait_and_not_before() {
        let parker = Parker::new();
        let deadline = Instant::now() + Duration::from_millis(5);
        assert!(!parker.park_until(deadline));
        assert!(Instant::now() >= deadline);
        parker.unpark();
        assert!(parker.park_until(Instant::FAR_FUTURE));
    }

    #[test]
    fn many_rounds_between_two_threads() {
        let (ping, pong) = (Arc::new(Parker::new()), Arc::new(Parker::new()));
        let (a, b) = (ping.clone(), pong.clone());
        let other = std::thread::spawn(move || {
            for _ in 0..10_000 {
                a.park();
                b.unpark();
            }
        });
        for _ in 0..10_000 {
            ping.unpark();
            pong.park();
        }
        other.join().unwrap();
    }

    #[test]
    fn a_waker_unparks_and_shares_the_reference_count() {
        let parker = Arc::new(Parker::new());
        let waker = crate::parker::waker(&parker);
        let clone = waker.clone();
        assert!(waker.will_wake(&clone));
        assert_eq!(Arc::strong_count(&parker), 3);
        clone.wake();
        assert!(parker.try_park());
        waker.wake_by_ref();
        assert!(parker.try_park());
        drop(waker);
        assert_eq!(Arc::strong_count(&parker), 1);
    }

    #[test]
    fn the_cached_parker_is_not_shared_by_nested_users() {
        with_current(|outer| {
            with_current(|inner| assert!(!Arc::ptr_eq(outer, inner)));
        });
        let first = with_current(Arc::as_ptr);
        let second = with_current(Arc::as_ptr);
        assert_eq!(first, second);
    }
}
