//! The table against one of std, with hashes that collide.

use std::collections::BTreeMap;
use std::sync::Arc;

use raddle_base::random::Rng;

use super::{Hashed, Table};

struct Number(u64);

impl Hashed for Number {
    fn hash(&self) -> u64 {
        // Many share a home, and some the whole hash.
        self.0 / 2 * 3
    }
}

#[test]
fn as_a_map_of_std() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let mut table = Table::new();
        let mut model = BTreeMap::new();
        for _ in 0..2_000 {
            let number = u64::from(rng.below(120));
            let entry = Arc::new(Number(number));
            let hash = entry.hash();
            let is_it = |other: &Arc<Number>| other.0 == number;
            match rng.below(2) {
                0 if !model.contains_key(&number) => {
                    table.insert(entry.clone());
                    model.insert(number, entry);
                }
                _ => {
                    let removed = table.remove(hash, is_it);
                    let expected = model.remove(&number);
                    assert_eq!(removed.map(|n| n.0), expected.map(|n| n.0));
                }
            }
            assert_eq!(table.len(), model.len());
            assert_eq!(table.find(hash, is_it).is_some(), model.contains_key(&number));
        }
        assert_eq!(table.iter().count(), model.len());
        for number in model.into_keys() {
            let hash = Number(number).hash();
            assert!(table.remove(hash, |other| other.0 == number).is_some());
        }
        assert_eq!((table.len(), table.slots.len()), (0, super::SMALLEST), "memory comes back");
    }
}
