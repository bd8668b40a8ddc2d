//! The slab against a `BTreeMap`; stale keys, retirement, memory.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{FORGETTABLE, Key, SMALL, Slab};
use crate::random::Rng;

fn starting_at(floor: u32) -> Slab<u32> {
    Slab::starting_at(NonZeroU32::new(floor).unwrap())
}

#[test]
fn stale_keys_find_nothing() {
    let mut slab = Slab::new();
    let old = slab.insert(1);
    assert_eq!(slab.remove(old), Some(1));
    for _ in 0..100 {
        let new = slab.insert(2);
        assert_eq!(new.index(), old.index(), "the place is used again");
        assert!(new != old && !slab.contains(old));
        assert!(slab.get_mut(old).is_none() && slab.remove(old).is_none());
        assert_eq!((slab.len(), slab.remove(new)), (1, Some(2)));
        assert_eq!(slab.remove(new), None);
    }
}

#[test]
fn keys_of_nothing_find_nothing() {
    let mut slab = Slab::new();
    slab.insert(1);
    for bits in [u64::MAX, 1 << 32 | 5, 2 << 32] {
        assert_eq!(slab.remove(Key::from_bits(bits).unwrap()), None);
    }
    assert_eq!(Key::from_bits(u32::MAX.into()), None);
    assert_eq!(size_of::<Option<Key>>(), 8);
}

#[test]
fn an_element_may_know_its_key() {
    let mut slab = Slab::new();
    let key = slab.insert_with(|key| key);
    assert_eq!(slab.get(key), Some(&key));
}

#[test]
fn a_panic_while_making_leaves_the_slab_whole() {
    let mut slab = Slab::new();
    let first = slab.insert(1);
    let failed = catch_unwind(AssertUnwindSafe(|| slab.insert_with(|_| panic!("no element"))));
    assert!(failed.is_err() && slab.len() == 1);
    let second = slab.insert(2);
    assert_eq!((slab.remove(first), slab.remove(second)), (Some(1), Some(2)));
}

#[test]
fn a_place_is_retired_when_its_generations_are_used_up() {
    let mut slab = starting_at(u32::MAX - 2);
    let keys: Vec<_> = (0..6)
        .map(|value| {
            let key = slab.insert(value);
            assert_eq!(slab.remove(key), Some(value));
            key
        })
        .collect();
    let places: Vec<_> = keys.iter().map(|key| key.index()).collect();
    assert_eq!(places, [0, 0, 0, 1, 1, 1]);
    assert_eq!(keys[2].generation(), NonZeroU32::MAX);
    assert!(keys.iter().all(|key| !slab.contains(*key)));
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    assert!(slab.iter().next().is_none());
}

/// A place whose count could not be remembered as a floor stays; others do not start from it.
#[test]
fn high_generations_are_kept_in_their_place() {
    let mut slab = starting_at(FORGETTABLE);
    let first = slab.insert(0);
    slab.remove(first);
    slab.shrink_to_fit();
    // The place has the next generation, which is too high to be a floor: it was not given up.
    let again = slab.insert(1);
    assert_eq!((again.index(), again.generation().get()), (0, FORGETTABLE + 1));
    let other = slab.insert(2);
    assert_eq!((other.index(), other.generation().get()), (1, FORGETTABLE));
}

#[test]
fn memory_goes_back_after_a_burst() {
    let mut slab = Slab::new();
    for backwards in [false, true] {
        let mut keys: Vec<_> = (0..100_000).map(|value| slab.insert(value)).collect();
        let kept = keys.swap_remove(0);
        if backwards {
            keys.reverse();
        }
        let stale = keys[50_000];
        for key in keys {
            assert!(slab.remove(key).is_some());
        }
        let places = slab.capacity();
        assert!(places <= 5 * SMALL, "{places} places for one element");
        assert_eq!(slab.get(kept), Some(&0));
        // Places that come back do not start over.
        let fresh: Vec<_> = (0..100_000).map(|value| slab.insert(value)).collect();
        assert!(!slab.contains(stale));
        assert!(fresh.into_iter().all(|key| slab.remove(key).is_some()));
        slab.remove(kept);
    }
    slab.shrink_to_fit();
    assert_eq!(slab.capacity(), 0);
}

#[test]
fn random_steps_agree_with_an_oracle() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let floors = [1, FORGETTABLE - 3, u32::MAX - 3];
        let mut slab = starting_at(floors[seed as usize % 3]);
        let (mut oracle, mut given) = (BTreeMap::new(), Vec::<Key>::new());
        // Phases of growth and of decline.
        for value in 0..3_000 {
            if rng.below(100) < if value / 500 % 2 == 0 { 70 } else { 30 } {
                let key = slab.insert(value);
                assert!(!given.contains(&key), "a key was given out twice");
                given.push(key);
                oracle.insert(key, value);
            } else if !given.is_empty() {
                // Mostly live keys, some stale ones.
                let recent = rng.below(60).min(given.len() as u32 - 1) as usize;
                let key = given[given.len() - 1 - recent];
                assert_eq!(slab.get(key), oracle.get(&key));
                assert_eq!(slab.remove(key), oracle.remove(&key));
            }
            assert_eq!(slab.len(), oracle.len());
        }
        assert_eq!(
            slab.iter().map(|(key, value)| (key, *value)).collect::<BTreeMap<_, _>>(),
            oracle
        );
        assert!(given.iter().all(|key| slab.get(*key) == oracle.get(key)));
    }
}
