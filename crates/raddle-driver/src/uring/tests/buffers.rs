//! The pool by itself: growing, and buffers that come back from other threads.

use super::*;
use crate::probe::{Choice, choose};
use crate::sys::uring::Uring;
use std::sync::Arc;

/// `None`, with the reason said, where io_uring is refused.
fn ring() -> Option<Arc<Uring>> {
    if let Err(refusal) = choose(Choice::Uring) {
        println!("left out: {refusal}");
        return None;
    }
    Some(Uring::new(8, 16, 0).expect("a ring"))
}

#[test]
fn the_pool_begins_small_and_grows_to_its_size() {
    let Some(uring) = ring() else { return };
    let pool = Pool::new(&uring, 256, 128).unwrap();
    assert_eq!(pool.given(), 64);
    assert!(pool.grow());
    assert_eq!(pool.given(), 128);
    assert!(pool.grow());
    assert!(!pool.grow(), "all are given");
    assert_eq!(pool.given(), 256);
    drop(uring);
}

#[test]
fn buffers_given_back_elsewhere_wait_for_the_owner() {
    let Some(uring) = ring() else { return };
    let pool = Arc::new(Pool::new(&uring, 8, 128).unwrap());
    let other = Arc::clone(&pool);
    std::thread::spawn(move || {
        assert!(!other.grow(), "only the owner gives");
        other.give_back(3);
        other.give_back(5);
    })
    .join()
    .unwrap();
    assert_eq!(pool.given(), 8);
    pool.reclaim();
    assert_eq!(pool.given(), 10);
    pool.reclaim();
    assert_eq!(pool.given(), 10);
    drop(uring);
}
