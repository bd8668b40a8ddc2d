//! Are addresses found in the slots they lie in, and nowhere else?

use super::{GRANULE, Place, arena_size, enter, find, leave};

/// Address space no mapping can have in these tests: the table never follows an address.
const BASE: usize = 0x7000 * GRANULE;

#[test]
fn an_address_leads_to_its_slot() {
    let (slot, guard) = (256 << 10, 64 << 10);
    assert_eq!(find(BASE), None);
    enter(BASE, slot, guard);
    let third =
        Place { guard: BASE + 2 * slot, bottom: BASE + 2 * slot + guard, top: BASE + 3 * slot };
    assert_eq!(find(BASE + 2 * slot), Some(third));
    assert_eq!(find(BASE + 3 * slot - 1), Some(third));
    assert_eq!(find(BASE - 1), None);
    assert_eq!(find(BASE + GRANULE), None);
    leave(BASE, slot);
    assert_eq!(find(BASE + 2 * slot), None);
}

#[test]
fn the_rest_of_an_arena_is_nobodys() {
    let (base, slot) = (BASE + 16 * GRANULE, 12 << 20);
    enter(base, slot, 4096);
    assert!(find(base + 5 * slot - 1).is_some());
    assert_eq!(find(base + 5 * slot), None, "64 MiB hold five of 12 MiB");
    leave(base, slot);
}

#[test]
fn a_slot_may_cover_many_granules() {
    let (base, slot) = (BASE + 32 * GRANULE, 150 << 20);
    assert_eq!(arena_size(slot), 3 * GRANULE);
    enter(base, slot, 8192);
    let place = Place { guard: base, bottom: base + 8192, top: base + slot };
    assert_eq!(find(base + 149 * (1 << 20)), Some(place));
    assert_eq!(find(base + 151 * (1 << 20)), None);
    leave(base, slot);
}

#[test]
fn addresses_beyond_the_table_are_nobodys() {
    assert_eq!(find(usize::MAX), None);
    assert_eq!(find(0), None);
}
