//! Real threads: each item is received exactly once, whoever receives it.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::deque::{Owner, Thief, ring, ring_from};
use crate::random::Rng;
use crate::testing::Watchdog;

const ITEMS: u32 = 100_000;
const THIEVES: usize = 3;

/// The owner pushes and pops at random; three thieves take one or half.
#[test]
fn each_item_is_received_exactly_once() {
    let (owner, thief) = ring_from::<Box<u32>>(u32::MAX - ITEMS / 2);
    let (received, done) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    thread::scope(|scope| {
        for seed in 0..THIEVES as u64 {
            let (thief, received, done) = (thief.clone(), &received, &done);
            scope.spawn(move || {
                let mine = steal_until(&thief, done, Rng::new(seed));
                received.lock().unwrap().extend(mine);
            });
        }
        let mine = push_and_pop(&owner);
        done.store(true, Ordering::Release);
        received.lock().unwrap().extend(mine);
    });
    let received = received.into_inner().unwrap();
    assert_eq!(received.len(), ITEMS as usize, "an item was lost or received twice");
    assert!(received.into_iter().collect::<BTreeSet<_>>().into_iter().eq(0..ITEMS));
}

fn push_and_pop(owner: &Owner<Box<u32>>) -> Vec<u32> {
    let (mut rng, mut mine, watchdog) = (Rng::new(99), Vec::new(), Watchdog::start());
    for value in 0..ITEMS {
        let mut item = Box::new(value);
        while let Err(back) = owner.push(item) {
            watchdog.check();
            item = back;
            mine.extend(owner.pop().map(|item| *item));
        }
        if rng.below(4) == 0 {
            mine.extend(owner.pop().map(|item| *item));
        }
    }
    mine.extend(std::iter::from_fn(|| owner.pop()).map(|item| *item));
    mine
}

fn steal_until(victim: &Thief<Box<u32>>, done: &AtomicBool, mut rng: Rng) -> Vec<u32> {
    let (owner, _own_thief) = ring();
    let mut mine = Vec::new();
    let watchdog = Watchdog::start();
    while !done.load(Ordering::Acquire) {
        watchdog.check();
        let stolen = match rng.below(3) {
            0 => victim.steal_one(),
            _ => victim.steal_half(&owner),
        };
        mine.extend(stolen.map(|item| *item));
        mine.extend(std::iter::from_fn(|| owner.pop()).map(|item| *item));
    }
    mine
}
