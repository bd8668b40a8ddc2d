//! Batches of wakers: order, emptiness, and a waker that panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::Waker;

use super::support::{Counter, Event, Hostile};
use crate::wait::{Wake, WakeBatch};

fn pushed(wakers: impl IntoIterator<Item = Waker>) -> WakeBatch {
    let mut batch = WakeBatch::new();
    for waker in wakers {
        batch.push(Wake(Some(waker)));
    }
    batch
}

#[test]
fn wakes_in_order_and_is_empty_after() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut batch = pushed((0..WakeBatch::CAPACITY).map(|i| {
        let order = order.clone();
        Hostile::waker(move |event| {
            if event == Event::Wake {
                order.lock().unwrap().push(i);
            }
        })
    }));
    assert!(batch.is_full());
    batch.wake_all();
    assert!(batch.is_empty());
    batch.finish();
    assert_eq!(*order.lock().unwrap(), (0..WakeBatch::CAPACITY).collect::<Vec<_>>());
}

#[test]
fn nobody_to_wake_takes_no_room() {
    let mut batch = WakeBatch::new();
    for _ in 0..=WakeBatch::CAPACITY {
        batch.push(Wake(None));
    }
    assert!(batch.is_empty());
}

#[test]
fn a_panic_strands_nobody_and_goes_on_at_the_end() {
    let counter = Counter::new();
    let bad = || Hostile::waker(|event| assert!(event != Event::Wake, "refused"));
    let good = || Waker::from(counter.clone());
    let mut batch = pushed([bad(), good(), bad(), good()]);
    batch.wake_all();
    assert_eq!(counter.count(), 2);
    assert!(catch_unwind(AssertUnwindSafe(|| batch.finish())).is_err());
    assert_eq!(Arc::strong_count(&counter), 1, "no waker was leaked");
}

#[test]
fn an_unwinding_owner_strands_nobody() {
    let counter = Counter::new();
    let batch = pushed([Waker::from(counter.clone())]);
    let unwound = catch_unwind(AssertUnwindSafe(move || {
        let _batch = batch;
        panic!("the owner fails");
    }));
    assert!(unwound.is_err());
    assert_eq!(counter.count(), 1);
}

#[test]
fn finish_while_unwinding_does_not_panic_again() {
    struct Finish(Option<WakeBatch>);
    impl Drop for Finish {
        fn drop(&mut self) {
            self.0.take().expect("set").finish();
        }
    }
    let bad = Hostile::waker(|event| assert!(event != Event::Wake, "refused"));
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _finish = Finish(Some(pushed([bad])));
        panic!("the first");
    }));
    assert_eq!(*unwound.unwrap_err().downcast_ref::<&str>().unwrap(), "the first");
}
