//! One thread: the ring against a `VecDeque`, the wrap of its indices, what a claim holds back.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use crate::deque::index::{Head, ahead};
use crate::deque::{CAPACITY, Owner, Thief, ring, ring_from};
use crate::random::Rng;

/// A start from which each test crosses the wrap of the indices.
const NEAR_WRAP: u32 = u32::MAX - 3;

fn fill(owner: &Owner<Box<u32>>, values: impl Iterator<Item = u32>) {
    values.for_each(|value| owner.push(Box::new(value)).expect("room"));
}

fn drain(owner: &Owner<Box<u32>>) -> Vec<u32> {
    std::iter::from_fn(|| owner.pop()).map(|item| *item).collect()
}

#[test]
fn items_come_out_in_order_across_the_wrap() {
    let (owner, _thief) = ring_from(NEAR_WRAP);
    for lap in 0..5 {
        fill(&owner, lap..lap + 4);
        assert_eq!(drain(&owner), (lap..lap + 4).collect::<Vec<_>>());
    }
}

#[test]
fn a_full_ring_gives_the_item_back() {
    for start in [0, NEAR_WRAP] {
        let (owner, thief) = ring_from(start);
        fill(&owner, 0..CAPACITY as u32);
        assert_eq!(owner.push(Box::new(77)), Err(Box::new(77)));
        assert_eq!((owner.free(), owner.len(), thief.len()), (0, CAPACITY, CAPACITY));
        assert_eq!(owner.pop().as_deref(), Some(&0));
        owner.push(Box::new(77)).expect("one place is free again");
    }
}

#[test]
fn a_thief_takes_half_rounded_up_and_keeps_the_order() {
    for (queued, taken) in [(1, 1), (2, 1), (3, 2), (4, 2)] {
        let (victim, thief) = ring_from(NEAR_WRAP);
        let (owner, _) = ring_from(NEAR_WRAP);
        fill(&victim, 0..queued);
        assert_eq!(thief.steal_half(&owner).as_deref(), Some(&0));
        assert_eq!(drain(&owner), (1..taken).collect::<Vec<_>>());
        assert_eq!(drain(&victim), (taken..queued).collect::<Vec<_>>());
    }
}

#[test]
fn a_thief_takes_no_more_than_fits() {
    let (victim, thief) = ring();
    let (owner, _) = ring();
    fill(&victim, 0..4);
    fill(&owner, (100..).take(CAPACITY));
    // Nothing fits, but the one that is returned.
    assert_eq!(thief.steal_half(&owner).as_deref(), Some(&0));
    assert_eq!((owner.len(), victim.len()), (CAPACITY, 3));
    owner.pop().expect("full");
    assert_eq!(thief.steal_half(&owner).as_deref(), Some(&1));
    assert_eq!((owner.len(), victim.len()), (CAPACITY, 1));
    assert_eq!(drain(&owner).last(), Some(&2));
}

#[test]
fn stealing_from_oneself_turns_the_ring() {
    let (owner, thief) = ring_from(NEAR_WRAP);
    fill(&owner, 0..4);
    assert_eq!(thief.steal_half(&owner).as_deref(), Some(&0));
    assert_eq!(drain(&owner), [2, 3, 1]);
}

#[test]
fn an_empty_ring_has_nothing_to_steal() {
    let (owner, thief) = ring::<Box<u32>>();
    assert!(thief.steal_one().is_none() && thief.steal_half(&owner).is_none());
    assert!(thief.is_empty() && owner.is_empty());
}

#[test]
fn a_claim_holds_back_pushes_and_other_thieves_but_not_pops() {
    let (owner, thief) = ring_from(NEAR_WRAP);
    fill(&owner, 0..CAPACITY as u32);
    let claim = thief.claim(2).expect("a full ring");
    assert!(thief.steal_one().is_none(), "a second thief gives up");
    assert_eq!(owner.pop().as_deref(), Some(&2));
    assert_eq!(owner.pop().as_deref(), Some(&3));
    // Four have left the queue, but their slots are behind the claim.
    assert_eq!(owner.push(Box::new(77)), Err(Box::new(77)));
    let items: Vec<_> = (0..claim.count).map(|nth| claim.read(nth)).collect();
    drop(claim);
    assert_eq!(owner.free(), 4);
    for (item, value) in items.into_iter().zip(0..) {
        // SAFETY: claimed above, read once, and never given out otherwise.
        let item = unsafe { <Box<u32> as crate::pointer::Pointer>::from_raw(item) };
        assert_eq!(*item, value);
    }
}

#[test]
fn dropping_the_owner_drops_what_is_left_exactly_once() {
    struct Counted(Rc<Cell<u32>>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let dropped = Rc::new(Cell::new(0));
    let (owner, thief) = ring_from(NEAR_WRAP);
    for _ in 0..4 {
        assert!(owner.push(Box::new(Counted(dropped.clone()))).is_ok());
    }
    drop(thief.steal_one());
    assert_eq!(dropped.get(), 1);
    drop(owner);
    assert_eq!(dropped.get(), 4);
    assert!(thief.steal_one().is_none());
}

#[test]
fn shared_pointers_can_be_queued() {
    let (owner, thief) = ring();
    let item = Arc::new(5);
    owner.push(item.clone()).expect("room");
    owner.push(item.clone()).expect("room");
    assert_eq!(Arc::strong_count(&item), 3);
    assert_eq!(thief.steal_one(), Some(item.clone()));
    drop(owner);
    assert_eq!(Arc::strong_count(&item), 1);
}

#[test]
fn verbs_of_the_head_wrap_each_half_alone() {
    let head = Head::at(u32::MAX).claim(3);
    assert_eq!((head.claimed(), head.real(), head.is_claimed()), (u32::MAX, 2, true));
    assert_eq!(head.popped(), Head::ZERO.with_claimed(u32::MAX).with_real(3));
    assert_eq!(head.popped().released(), Head::at(3));
    assert_eq!(Head::at(u32::MAX).popped(), Head::at(0));
    assert_eq!((ahead(u32::MAX, 1), ahead(1, u32::MAX), ahead(7, 7)), (2, 0, 0));
}

/// Two rings and two `VecDeque`s go through the same random steps.
#[test]
fn random_steps_agree_with_an_oracle() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let starts = [NEAR_WRAP.wrapping_add(rng.below(8)), u32::MAX - rng.below(600)];
        let rings = starts.map(ring_from::<Box<u32>>);
        let mut oracles = [VecDeque::new(), VecDeque::new()];
        for value in 0..2_000 {
            let at = rng.below(2) as usize;
            step(&mut rng, value, &rings, &mut oracles, at);
        }
        for ((owner, thief), oracle) in rings.iter().zip(&oracles) {
            assert_eq!(owner.len(), oracle.len());
            assert_eq!(thief.len(), oracle.len());
        }
        for ((owner, _), oracle) in rings.iter().zip(oracles) {
            assert_eq!(oracle, drain(owner), "seed {seed}");
        }
    }
}

type Side = (Owner<Box<u32>>, Thief<Box<u32>>);

fn step(rng: &mut Rng, value: u32, rings: &[Side; 2], oracles: &mut [VecDeque<u32>; 2], at: usize) {
    let (mine, other) = (&rings[at].0, &rings[1 - at].1);
    match rng.below(16) {
        0..9 => {
            let fits = oracles[at].len() < CAPACITY;
            assert_eq!(mine.push(Box::new(value)).is_ok(), fits);
            if fits {
                oracles[at].push_back(value);
            }
        }
        9..13 => assert_eq!(mine.pop().map(|item| *item), oracles[at].pop_front()),
        13 => assert_eq!(other.steal_one().map(|item| *item), oracles[1 - at].pop_front()),
        _ => {
            let free = CAPACITY - oracles[at].len();
            let count = oracles[1 - at].len().div_ceil(2).min(free + 1);
            let mut moved: VecDeque<_> = oracles[1 - at].drain(..count).collect();
            assert_eq!(other.steal_half(mine).map(|item| *item), moved.pop_front());
            oracles[at].append(&mut moved);
        }
    }
}
