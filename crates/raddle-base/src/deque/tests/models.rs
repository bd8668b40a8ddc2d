//! Every interleaving of short programs on rings of four.
//!
//! The items are boxes around a checked cell, and the slots are checked cells as well: an item
//! read by somebody to whom it was not published, or a slot overwritten while it is read, fails
//! the model even if the value happens to be right.

use crate::deque::{CAPACITY, Owner, Thief, ring_from};
use crate::shim::cell::UnsafeCell;
use crate::shim::{Arc, model, thread};

/// An item whose content is not atomic.
type Item = Box<UnsafeCell<u32>>;

/// Indices wrap within each model.
const NEAR_WRAP: u32 = u32::MAX - 1;

fn item(value: u32) -> Item {
    Box::new(UnsafeCell::new(value))
}

/// Takes the value out, as exclusive access: a second receiver or an unpublished write is a race.
fn value(item: Item) -> u32 {
    // SAFETY: the box is owned; the model checks that this is so.
    item.with_mut(|value| unsafe { value.replace(u32::MAX) })
}

fn push(owner: &Owner<Item>, values: impl IntoIterator<Item = u32>) {
    for value in values {
        assert!(owner.push(item(value)).is_ok(), "room for {value}");
    }
}

fn drain(owner: &Owner<Item>) -> Vec<u32> {
    std::iter::from_fn(|| owner.pop()).map(value).collect()
}

/// Steals half into a new ring and returns what was taken, in order.
fn steal(thief: &Thief<Item>) -> Vec<u32> {
    let (own, _) = ring_from(NEAR_WRAP);
    let first = thief.steal_half(&own).map(value);
    first.into_iter().chain(drain(&own)).collect()
}

/// Each of `0..count` is in exactly one of `parts`, and each part is in order.
fn check_once(count: u32, parts: &[Vec<u32>]) {
    for part in parts {
        assert!(part.is_sorted(), "out of order: {parts:?}");
    }
    let mut all = parts.concat();
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..count), "lost or doubled: {parts:?}");
}

#[test]
fn model_a_thief_meets_a_push() {
    model::check(|| {
        let (owner, thief) = ring_from(NEAR_WRAP);
        let stealing = thread::spawn(move || steal(&thief));
        push(&owner, 0..2);
        let stolen = stealing.join().unwrap();
        check_once(2, &[stolen, drain(&owner)]);
    });
}

#[test]
fn model_owner_and_thief_want_the_last_item() {
    model::check(|| {
        let (owner, thief) = ring_from(NEAR_WRAP);
        push(&owner, [0]);
        let stealing = thread::spawn(move || steal(&thief));
        let popped = drain(&owner);
        check_once(1, &[stealing.join().unwrap(), popped]);
    });
}

#[test]
fn model_owner_pops_while_a_thief_takes_half_of_three() {
    model::check(|| {
        let (owner, thief) = ring_from(NEAR_WRAP);
        push(&owner, 0..3);
        let stealing = thread::spawn(move || steal(&thief));
        let popped = drain(&owner);
        push(&owner, [3]);
        let stolen = stealing.join().unwrap();
        check_once(4, &[stolen, popped, drain(&owner)]);
    });
}

#[test]
fn model_two_thieves_and_the_owner_share_three() {
    model::check(|| {
        let (owner, thief) = ring_from(NEAR_WRAP);
        push(&owner, 0..3);
        let another = thief.clone();
        let one = thread::spawn(move || steal(&thief));
        let two = thread::spawn(move || another.steal_one().map(value).into_iter().collect());
        let popped = owner.pop().map(value).into_iter().collect();
        let (one, two) = (one.join().unwrap(), two.join().unwrap());
        check_once(3, &[one, two, popped, drain(&owner)]);
    });
}

/// The ring is full, and a slot becomes free only by the thief's release.
#[test]
fn model_a_full_ring_is_refilled_while_a_thief_reads() {
    model::check(|| {
        let (owner, thief) = ring_from(NEAR_WRAP);
        let count = CAPACITY as u32;
        push(&owner, 0..count);
        let stealing = thread::spawn(move || steal(&thief));
        let mut popped = Vec::new();
        let mut pushed = count;
        for _ in 0..2 {
            match owner.push(item(pushed)) {
                Ok(()) => pushed += 1,
                // Full: nothing was stolen yet, or the thief is still reading.
                Err(back) => {
                    assert_eq!(value(back), pushed);
                    popped.extend(owner.pop().map(value));
                }
            }
        }
        let stolen = stealing.join().unwrap();
        popped.extend(drain(&owner));
        check_once(pushed, &[stolen, popped]);
    });
}

/// A thief is itself a victim while it fills its ring across the wrap of its indices.
#[test]
fn model_a_thief_is_robbed_while_it_steals() {
    model::check(|| {
        let (victim, thief) = ring_from(NEAR_WRAP);
        let (own, own_thief) = ring_from(NEAR_WRAP);
        push(&victim, 0..4);
        let robbing = thread::spawn(move || own_thief.steal_one().map(value));
        let mut taken: Vec<_> = thief.steal_half(&own).map(value).into_iter().collect();
        taken.extend(drain(&own));
        let robbed: Vec<_> = robbing.join().unwrap().into_iter().collect();
        check_once(4, &[taken, robbed, drain(&victim)]);
    });
}

/// The owner goes away while a thief is between claim and release: both together drop everything.
#[test]
fn model_the_owner_is_dropped_under_a_thief() {
    model::check(|| {
        let (owner, thief) = ring_from(NEAR_WRAP);
        let alive = Arc::new(());
        for _ in 0..2 {
            assert!(owner.push(Box::new(alive.clone())).is_ok());
        }
        let stealing = thread::spawn(move || drop(thief.steal_one()));
        drop(owner);
        stealing.join().unwrap();
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}
