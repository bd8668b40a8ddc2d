//! Every interleaving of short programs on rings of four.
//!
//! The items are boxes around a checked cell, and the slots are checked cells as well: an item
//! read by somebody to whom it was not published, or a slot overwritten while it is read, fails
//! the model even if the value happens to be right.
//!
//! Each program runs twice, with the owner on the first thread and on the second. The checker
//! looks for orders to try from the last access to each word; a load that is followed by another
//! thread's load and exchange is forgotten, so either side has to come last once.

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

/// A ring with `0..count` in it.
fn ring_with(count: u32) -> (Owner<Item>, Thief<Item>) {
    let (owner, thief) = ring_from(NEAR_WRAP);
    push(&owner, 0..count);
    (owner, thief)
}

fn push(owner: &Owner<Item>, values: impl IntoIterator<Item = u32>) {
    for value in values {
        assert!(owner.push(item(value)).is_ok(), "room for {value}");
    }
}

/// Pushes the next value if there is room, else pops one.
fn push_or_pop(owner: &Owner<Item>, next: &mut u32, popped: &mut Vec<u32>) {
    match owner.push(item(*next)) {
        Ok(()) => *next += 1,
        Err(back) => {
            assert_eq!(value(back), *next);
            popped.extend(owner.pop().map(value));
        }
    }
}

fn pop(owner: &Owner<Item>) -> Vec<u32> {
    owner.pop().map(value).into_iter().collect()
}

fn drain(owner: &Owner<Item>) -> Vec<u32> {
    std::iter::from_fn(|| owner.pop()).map(value).collect()
}

fn steal_one(thief: &Thief<Item>) -> Vec<u32> {
    thief.steal_one().map(value).into_iter().collect()
}

/// Steals half into a new ring and returns what was taken, in order.
fn steal_half(thief: &Thief<Item>) -> Vec<u32> {
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

/// Explores `program` with its two parts on the model's first and second thread, then the other
/// way round.
fn in_both_roles(program: impl Fn(Roles) + Copy + Send + Sync + 'static) {
    model::check(move || program(Roles { swapped: false }));
    model::check(move || program(Roles { swapped: true }));
}

#[derive(Clone, Copy)]
struct Roles {
    swapped: bool,
}

impl Roles {
    /// Runs both at the same time.
    fn run<A: Send + 'static, B: Send + 'static>(
        self,
        one: impl FnOnce() -> A + Send + 'static,
        two: impl FnOnce() -> B + Send + 'static,
    ) -> (A, B) {
        if self.swapped {
            let one = thread::spawn(one);
            let two = two();
            (one.join().unwrap(), two)
        } else {
            let two = thread::spawn(two);
            let one = one();
            (one, two.join().unwrap())
        }
    }
}

#[test]
fn model_a_thief_meets_a_push() {
    in_both_roles(|roles| {
        let (owner, thief) = ring_with(0);
        let pushing = move || {
            push(&owner, 0..2);
            owner
        };
        let (owner, stolen) = roles.run(pushing, move || steal_half(&thief));
        check_once(2, &[stolen, drain(&owner)]);
    });
}

#[test]
fn model_owner_and_thief_want_the_last_item() {
    in_both_roles(|roles| {
        let (owner, thief) = ring_with(1);
        let popping = move || (pop(&owner), owner);
        let ((popped, owner), stolen) = roles.run(popping, move || steal_half(&thief));
        check_once(1, &[stolen, popped]);
        assert!(owner.is_empty());
    });
}

#[test]
fn model_owner_pops_while_a_thief_takes_half_of_three() {
    in_both_roles(|roles| {
        let (owner, thief) = ring_with(3);
        let popping = move || {
            let popped = drain(&owner);
            push(&owner, [3]);
            (popped, owner)
        };
        let ((popped, owner), stolen) = roles.run(popping, move || steal_half(&thief));
        check_once(4, &[stolen, popped, drain(&owner)]);
    });
}

#[test]
fn model_two_thieves_and_the_owner_share_three() {
    in_both_roles(|roles| {
        let (owner, thief) = ring_with(3);
        let another = thief.clone();
        let third = thread::spawn(move || steal_one(&another));
        let popping = move || (pop(&owner), owner);
        let ((popped, owner), stolen) = roles.run(popping, move || steal_half(&thief));
        check_once(3, &[third.join().unwrap(), stolen, popped, drain(&owner)]);
    });
}

/// The ring is full, and a slot becomes free only by the thief's release.
#[test]
fn model_a_full_ring_is_refilled_while_a_thief_reads() {
    in_both_roles(|roles| {
        let full = CAPACITY as u32;
        let (owner, thief) = ring_with(full);
        let pushing = move || {
            let (mut popped, mut next) = (Vec::new(), full);
            for _ in 0..3 {
                push_or_pop(&owner, &mut next, &mut popped);
            }
            popped.extend(drain(&owner));
            (popped, next)
        };
        let ((popped, next), stolen) = roles.run(pushing, move || steal_half(&thief));
        check_once(next, &[stolen, popped]);
    });
}

/// The second thief must not claim while the first reads: the first one's release would hand the
/// second one's slots to the owner. (In one role only: three threads are many orders.)
#[test]
fn model_two_thieves_while_a_full_ring_is_refilled() {
    model::check(|| {
        let full = CAPACITY as u32;
        let (owner, thief) = ring_with(full);
        let thieves = [thief.clone(), thief];
        let stealing = thieves.map(|thief| thread::spawn(move || steal_one(&thief)));
        let pushed =
            [full, full + 1].into_iter().take_while(|next| owner.push(item(*next)).is_ok());
        let pushed = pushed.count() as u32;
        let [one, two] = stealing.map(|thief| thief.join().unwrap());
        check_once(full + pushed, &[one, two, drain(&owner)]);
    });
}

/// A thief is itself a victim while it fills its ring across the wrap of its indices.
#[test]
fn model_a_thief_is_robbed_while_it_steals() {
    in_both_roles(|roles| {
        let (victim, thief) = ring_with(4);
        let (own, own_thief) = ring_with(0);
        let stealing = move || {
            let mut taken: Vec<_> = thief.steal_half(&own).map(value).into_iter().collect();
            taken.extend(drain(&own));
            taken
        };
        let (taken, robbed) = roles.run(stealing, move || steal_one(&own_thief));
        check_once(4, &[taken, robbed, drain(&victim)]);
    });
}

/// The owner goes away while a thief is between claim and release: both together drop everything.
#[test]
fn model_the_owner_is_dropped_under_a_thief() {
    in_both_roles(|roles| {
        let (owner, thief) = ring_from(NEAR_WRAP);
        let alive = Arc::new(());
        for _ in 0..2 {
            assert!(owner.push(Box::new(alive.clone())).is_ok());
        }
        roles.run(move || drop(owner), move || drop(thief.steal_one()));
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}
