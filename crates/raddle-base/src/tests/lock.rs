//! The small lock: an attempt that fails takes nothing and frees nothing.

use super::Lock;

#[test]
fn a_failed_attempt_leaves_the_lock_to_its_holder() {
    let lock = Lock::new(7, 1);
    let mut guard = lock.lock();
    for _ in 0..2 {
        assert!(lock.try_lock().is_none(), "the holder has it still");
    }
    *guard += 1;
    drop(guard);
    assert_eq!(lock.try_lock().map(|guard| *guard), Some(2));
    assert_eq!(*lock.lock(), 2, "a successful attempt ended with its guard");
    assert_eq!(lock.into_inner(), 2);
}

/// The printed form of a queue is made with an attempt.
#[test]
fn a_locked_queue_can_be_printed_and_stays_locked() {
    let queue = crate::wait::WaitQueue::<(), u8>::new(0);
    let locked = queue.lock();
    for _ in 0..2 {
        assert_eq!(format!("{queue:?}"), "WaitQueue(locked)");
    }
    drop(locked);
    assert_eq!(format!("{queue:?}"), "WaitQueue(waiters: false)");
}
