//! The wait queue on one thread: order, leaving from any place, release of many, hostile wakers.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::gate::{ALL, Gate, ONE, Pass};
use super::support::{Counter, Event, Hostile};
use crate::wait::{Phase, WaitKind, WaitQueue, Waiter, WakeBatch};

fn poll(pass: &mut Pin<Box<Pass>>, waker: &Waker) -> Poll<u8> {
    pass.as_mut().poll(&mut Context::from_waker(waker))
}

fn waiting(gate: &Arc<Gate>, count: usize) -> Vec<(Pin<Box<Pass>>, Arc<Counter>)> {
    (0..count)
        .map(|_| {
            let (mut pass, counter) = (Box::pin(gate.pass()), Counter::new());
            assert!(poll(&mut pass, &Waker::from(counter.clone())).is_pending());
            (pass, counter)
        })
        .collect()
}

fn done(pass: &mut Pin<Box<Pass>>) -> Poll<u8> {
    poll(pass, Waker::noop())
}

#[test]
fn first_in_first_out() {
    let gate = Gate::new();
    let mut all = waiting(&gate, 3);
    for next in 0..3 {
        gate.open_one();
        for (i, (_, counter)) in all.iter().enumerate() {
            assert_eq!(counter.count(), usize::from(i <= next));
        }
        assert_eq!(done(&mut all[next].0), Poll::Ready(ONE));
    }
    gate.open_one();
    assert_eq!(gate.permits(), 1, "with nobody waiting the permit is kept");
}

#[test]
fn leaves_from_head_middle_and_tail() {
    for gone in 0..3 {
        let gate = Gate::new();
        let mut all = waiting(&gate, 3);
        let (pass, counter) = all.remove(gone);
        drop(pass);
        assert_eq!(Arc::strong_count(&counter), 1, "the waker left with the node");
        for (pass, counter) in &mut all {
            gate.open_one();
            assert_eq!(counter.count(), 1);
            assert_eq!(done(pass), Poll::Ready(ONE));
        }
        assert!(gate.queue.lock().is_empty());
    }
}

#[test]
fn a_granted_wait_that_is_dropped_hands_on() {
    let gate = Gate::new();
    let mut all = waiting(&gate, 3);
    gate.open_one();
    drop(all.remove(0));
    assert_eq!(all[0].1.count(), 1);
    drop(all.remove(0));
    assert_eq!(all[0].1.count(), 1);
    drop(all.remove(0));
    assert_eq!(gate.permits(), 1);
}

#[test]
fn release_all_serves_more_than_a_batch_in_order() {
    let gate = Gate::new();
    let order = Arc::new(Mutex::new(Vec::new()));
    let count = 3 * WakeBatch::CAPACITY + 1;
    let mut all: Vec<_> = (0..count)
        .map(|i| {
            let order = order.clone();
            let waker = Hostile::waker(move |event| {
                if event == Event::Wake {
                    order.lock().unwrap().push(i);
                }
            });
            let mut pass = Box::pin(gate.pass());
            assert!(poll(&mut pass, &waker).is_pending());
            pass
        })
        .collect();
    gate.open_all();
    assert_eq!(*order.lock().unwrap(), (0..count).collect::<Vec<_>>());
    for pass in &mut all {
        assert_eq!(done(pass), Poll::Ready(ALL));
    }
}

#[test]
fn who_comes_during_a_release_belongs_to_the_next() {
    let gate = Gate::new();
    let late: Arc<Mutex<Vec<Pin<Box<Pass>>>>> = Arc::default();
    let mut all: Vec<_> = (0..2 * WakeBatch::CAPACITY)
        .map(|_| {
            let (gate2, late) = (gate.clone(), late.clone());
            let waker = Hostile::waker(move |event| {
                if event == Event::Wake {
                    let mut pass = Box::pin(gate2.pass());
                    assert!(done(&mut pass).is_pending());
                    late.lock().unwrap().push(pass);
                }
            });
            let mut pass = Box::pin(gate.pass());
            assert!(poll(&mut pass, &waker).is_pending());
            pass
        })
        .collect();
    gate.open_all();
    let mut late = std::mem::take(&mut *late.lock().unwrap());
    assert_eq!(late.len(), all.len());
    assert!(late.iter_mut().all(|pass| done(pass).is_pending()));
    assert!(all.iter_mut().all(|pass| done(pass) == Poll::Ready(ALL)));
    gate.open_all();
    assert!(late.iter_mut().all(|pass| done(pass) == Poll::Ready(ALL)));
}

#[test]
fn nodes_leave_the_ring_of_a_release_under_way() {
    // The first waker drops the wait of every node that the first batch did not reach.
    let gate = Gate::new();
    let count = 2 * WakeBatch::CAPACITY + 3;
    let rest: Arc<Mutex<Vec<_>>> = Arc::default();
    let dropper = Hostile::waker({
        let rest = rest.clone();
        move |event| {
            if event == Event::Wake {
                // Out of the lock first: dropping a wait drops wakers.
                let gone = std::mem::take(&mut *rest.lock().unwrap());
                drop(gone);
            }
        }
    });
    let mut first = Box::pin(gate.pass());
    assert!(poll(&mut first, &dropper).is_pending());
    let mut batch = waiting(&gate, WakeBatch::CAPACITY - 1);
    *rest.lock().unwrap() = waiting(&gate, count - WakeBatch::CAPACITY - 1);
    let mut last = waiting(&gate, 1);
    gate.open_all();
    assert_eq!(done(&mut first), Poll::Ready(ALL));
    for (pass, counter) in batch.iter_mut().chain(&mut last) {
        assert_eq!(counter.count(), 1);
        assert_eq!(done(pass), Poll::Ready(ALL));
    }
    assert!(gate.queue.lock().is_empty());
}

#[test]
fn a_panicking_waker_strands_nobody() {
    let gate = Gate::new();
    let mut before = waiting(&gate, 1);
    let mut bad = Box::pin(gate.pass());
    let waker = Hostile::waker(|event| assert!(event != Event::Wake, "refused"));
    assert!(poll(&mut bad, &waker).is_pending());
    let mut after = waiting(&gate, 2 * WakeBatch::CAPACITY);
    assert!(catch_unwind(AssertUnwindSafe(|| gate.open_all())).is_err());
    for (pass, counter) in before.iter_mut().chain(&mut after) {
        assert_eq!(counter.count(), 1);
        assert_eq!(done(pass), Poll::Ready(ALL));
    }
    assert_eq!(done(&mut bad), Poll::Ready(ALL));
}

/// A guard dropped by a panic wakes the next in line, whose waker panics as well: one panic is
/// enough.
#[test]
fn a_waker_that_panics_beside_a_panic_does_not_end_the_process() {
    struct OpensOnDrop(std::sync::Arc<Gate>);
    impl Drop for OpensOnDrop {
        fn drop(&mut self) {
            self.0.open_one();
        }
    }
    let gate = Gate::new();
    let mut bad = Box::pin(gate.pass());
    let waker = Hostile::waker(|event| assert!(event != Event::Wake, "refused"));
    assert!(poll(&mut bad, &waker).is_pending());
    let result = catch_unwind(AssertUnwindSafe(|| {
        let _guard = OpensOnDrop(gate.clone());
        panic!("the first");
    }));
    assert_eq!(result.unwrap_err().downcast_ref(), Some(&"the first"));
    assert!(done(&mut bad).is_ready());
}

#[test]
fn wakers_may_call_the_queue_from_clone_wake_and_drop() {
    let gate = Gate::new();
    let make = || {
        let gate = gate.clone();
        Hostile::waker(move |_| {
            let mut pass = Box::pin(gate.pass());
            let _ = done(&mut pass);
            drop(pass);
            gate.open_all();
            assert!(gate.queue.lock().is_empty() || gate.permits() == 0);
        })
    };
    for _ in 0..3 {
        let mut pass = Box::pin(gate.pass());
        assert!(poll(&mut pass, &make()).is_pending());
        // Replaced: the second clone and the first drop run here.
        let _ = poll(&mut pass, &make());
        gate.open_one();
        drop(pass);
    }
}

#[test]
fn the_same_waker_is_polled_without_the_lock() {
    let gate = Gate::new();
    let mut pass = Box::pin(gate.pass());
    let counter = Counter::new();
    let waker = Waker::from(counter.clone());
    assert!(poll(&mut pass, &waker).is_pending());
    let locked = gate.queue.lock();
    assert!(poll(&mut pass, &waker).is_pending(), "this would deadlock if it took the lock");
    drop(locked);
    gate.open_one();
    let locked = gate.queue.lock();
    assert_eq!(poll(&mut pass, &waker), Poll::Ready(ONE), "and so would this");
    drop(locked);
    assert_eq!(counter.count(), 1);
}

#[test]
fn a_replaced_waker_is_released_and_the_new_one_called() {
    let gate = Gate::new();
    let mut all = waiting(&gate, 1);
    let (pass, old) = &mut all[0];
    let new = Counter::new();
    assert!(poll(pass, &Waker::from(new.clone())).is_pending());
    assert_eq!(Arc::strong_count(old), 1);
    gate.open_one();
    assert_eq!((old.count(), new.count()), (0, 1));
}

#[test]
fn front_back_and_both_ends() {
    let gate = Gate::new();
    let mut all = waiting(&gate, 2);
    let mut first = Box::pin(gate.pass());
    let node = first.as_mut().node();
    // SAFETY: the future owns the node and removes it from this queue when it is dropped.
    unsafe { gate.queue.lock().push_front(node, None) };
    let wake = gate.queue.lock().grant_back(ONE).expect("three wait");
    wake.wake();
    assert_eq!((all[0].1.count(), all[1].1.count()), (0, 1));
    let wake = gate.queue.lock().grant_front(ONE).expect("two wait");
    assert!(wake.into_waker().is_none(), "it was queued without a waker");
    assert_eq!(done(&mut first), Poll::Ready(ONE));
    assert_eq!(done(&mut all[1].0), Poll::Ready(ONE));
}

#[test]
fn a_dump_names_kind_and_place() {
    let gate = Gate::new();
    let all = waiting(&gate, 2);
    let sites: Vec<_> = gate.queue.lock().sites().collect();
    assert_eq!(sites.len(), all.len());
    for site in sites {
        assert_eq!(site.kind, WaitKind::Other);
        assert!(site.to_string().starts_with("something at "), "{site}");
        assert!(site.location.file().ends_with("queue.rs"));
    }
}

#[test]
fn a_node_is_small() {
    assert!(size_of::<Waiter>() <= 64, "{}", size_of::<Waiter>());
    assert_eq!(size_of::<WaitQueue>(), 16);
    assert_eq!(size_of::<WaitQueue<(), (), 2>>(), 24);
    fn send_sync<T: Send + Sync>() {}
    send_sync::<Waiter<std::cell::Cell<u8>>>();
}

#[test]
fn the_one_that_is_looked_for_is_granted_wherever_it_stands() {
    let queue = WaitQueue::<u8>::new(());
    let nodes: Vec<_> =
        [1, 2, 2, 3].map(|key| Box::pin(Waiter::new(WaitKind::Other, key))).into_iter().collect();
    for node in &nodes {
        // SAFETY: the node is pinned, and granted below before it goes away.
        unsafe { queue.lock().push_back(node.as_ref(), None) };
    }
    let granted = |key: u8| {
        let found = queue.lock().grant_where(|payload| *payload == key, key).is_some();
        let done = nodes.iter().map(|node| u8::from(node.phase() == Phase::Done(key)));
        (found, done.collect::<Vec<_>>())
    };
    assert_eq!(granted(2), (true, vec![0, 1, 0, 0]));
    assert_eq!(granted(4), (false, vec![0, 0, 0, 0]));
    assert_eq!(granted(2), (true, vec![0, 1, 1, 0]));
    assert_eq!(granted(2), (false, vec![0, 1, 1, 0]));
    assert_eq!(granted(3), (true, vec![0, 0, 0, 1]));
    assert_eq!(granted(1), (true, vec![1, 0, 0, 0]));
    assert!(queue.lock().is_empty());
}
