//! Latches, wait groups, barriers and what else lets many go: no wait allocates.

use std::pin::pin;

use raddle_sync::completion::completion;
use raddle_sync::singleflight::Group;
use raddle_sync::{
    Barrier, EventCount, Latch, LazyCell, OnceCell, OnceMap, Phaser, Semaphore, SetOnce, Shutdown,
    TaskTracker, WaitGroup, WaitMap,
};

use super::{allocations, poll, ready};

#[test]
fn latch_ready_suspended_and_given_up() {
    let count = allocations(|| {
        let latch = Latch::new(2);
        let mut wait = pin!(latch.wait());
        assert!(poll(wait.as_mut()).is_pending());
        {
            assert!(poll(pin!(latch.wait())).is_pending());
        }
        latch.arrive(2);
        ready(wait);
        ready(latch.wait());
    });
    assert_eq!(count, 0);
}

#[test]
fn a_wait_group_is_one_allocation() {
    let count = allocations(|| {
        let group = WaitGroup::new();
        let mut wait = pin!(group.clone().wait());
        assert!(poll(wait.as_mut()).is_pending());
        drop(group);
        ready(wait);
    });
    assert_eq!(count, 1);
}

#[test]
fn barrier_rounds_with_a_thousand() {
    let barrier = Barrier::new(1001);
    let mut waits: Vec<_> = (0..1000).map(|_| Box::pin(barrier.wait())).collect();
    let count = allocations(|| {
        for _ in 0..2 {
            assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
            assert!(ready(barrier.wait()).is_leader());
            assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
        }
        let given_up = poll(pin!(barrier.wait()));
        assert!(given_up.is_pending());
        assert_eq!(barrier.waiting(), 0);
    });
    assert_eq!(count, 0);
}

#[test]
fn cells_and_lazy_values() {
    let count = allocations(|| {
        let cell = OnceCell::new();
        let mut lead = pin!(cell.get_or_init(std::future::pending::<u8>));
        assert!(poll(lead.as_mut()).is_pending());
        let mut insert = Box::pin(cell.try_insert(1));
        assert!(poll(insert.as_mut()).is_pending());
        drop(insert);
        let set = SetOnce::new();
        let mut wait = pin!(set.wait());
        assert!(poll(wait.as_mut()).is_pending());
        set.set(1).unwrap();
        assert_eq!(ready(wait), &1);
        let lazy = pin!(LazyCell::new(|| async { 1 }));
        assert_eq!(ready(lazy.as_ref().force_pin()), &1);
    });
    assert_eq!(count, 1, "the box of this test");
}

#[test]
fn trackers_and_completions_allocate_when_made() {
    let count = allocations(|| {
        let tracker = TaskTracker::new();
        let token = tracker.token();
        let mut tracked = pin!(tracker.track_future(async {}));
        let mut wait = pin!(tracker.wait());
        assert!(poll(wait.as_mut()).is_pending());
        ready(tracked.as_mut());
        drop(token);
        let (completer, observer) = completion();
        let mut seen = pin!(observer.wait());
        assert!(poll(seen.as_mut()).is_pending());
        completer.complete(1).unwrap();
        assert_eq!(ready(seen), Ok(&1));
    });
    assert_eq!(count, 2);
}

#[test]
fn event_counts_and_phasers() {
    let count = allocations(|| {
        let event = EventCount::new();
        let mut wait = pin!(event.wait(event.key()));
        let mut other = pin!(event.wait_until(|| Some(1).filter(|_| event.key() != start(&event))));
        assert!(poll(wait.as_mut()).is_pending());
        assert!(poll(other.as_mut()).is_pending());
        event.notify_one();
        event.notify_all();
        ready(wait);
        assert_eq!(ready(other), 1);
        let phaser = Phaser::new();
        let mut party = phaser.register_one().unwrap();
        let mut watch = pin!(phaser.wait(0));
        assert!(poll(watch.as_mut()).is_pending());
        assert_eq!((ready(party.wait()), ready(watch)), (Ok(1), Ok(1)));
    });
    assert_eq!(count, 0);
}

fn start(_: &EventCount) -> raddle_sync::event_count::Key {
    EventCount::new().key()
}

#[test]
fn shutdown_is_two_allocations() {
    let count = allocations(|| {
        let (shutdown, guard) = Shutdown::new();
        let watch = guard.watch();
        let mut requested = pin!(watch.shutdown_requested());
        assert!(poll(requested.as_mut()).is_pending());
        let mut wait = pin!(shutdown.wait());
        assert!(poll(wait.as_mut()).is_pending());
        ready(requested);
        drop(guard);
        ready(wait);
    });
    assert_eq!(count, 2);
}

#[test]
fn a_semaphore_in_debt() {
    let count = allocations(|| {
        let semaphore = Semaphore::new(1);
        let held = semaphore.try_acquire().unwrap();
        semaphore.reduce_permits(2);
        let mut wait = pin!(semaphore.acquire());
        assert!(poll(wait.as_mut()).is_pending());
        drop(held);
        semaphore.add_permits(2);
        drop(ready(wait).unwrap());
    });
    assert_eq!(count, 0);
}

#[test]
fn a_wait_map_allocates_nothing() {
    let map = WaitMap::new();
    let count = allocations(|| {
        let mut wait = pin!(map.wait(1));
        let mut other = pin!(map.wait(2));
        assert!(poll(wait.as_mut()).is_pending());
        assert!(poll(other.as_mut()).is_pending());
        map.wake(&1, 7).unwrap();
        assert_eq!(ready(wait), Ok(7));
        map.close();
        assert!(ready(other).is_err());
    });
    assert_eq!(count, 0);
}

#[test]
fn a_key_that_is_there_costs_nothing_and_a_new_one_its_entry() {
    let map = OnceMap::new();
    ready(map.compute(1, || async { 1 }));
    let count = allocations(|| {
        assert_eq!(ready(map.compute(1, || async { 2 })), 1);
        assert_eq!(map.get(&1), Some(1));
    });
    assert_eq!(count, 0);
    let group = Group::new();
    ready(group.work(1, || async { 1 }));
    let count = allocations(|| {
        assert_eq!(ready(group.work(1, || async { 2 })), 2);
    });
    assert_eq!(count, 1);
}
