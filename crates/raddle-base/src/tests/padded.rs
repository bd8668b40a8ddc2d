//! A padded value has its cache line to itself.

use super::*;

#[test]
fn neighbours_share_no_line() {
    let mut two = [CachePadded::new(1_u8), CachePadded::new(2)];
    let address = |value: &u8| std::ptr::from_ref(value).addr();
    assert_eq!(address(&two[0]) % 128, 0);
    assert_eq!(address(&two[1]) - address(&two[0]), 128);
    *two[0] += 4;
    assert_eq!((*two[0], two[1].into_inner()), (5, 2));
    assert_eq!(size_of::<CachePadded<[u8; 129]>>(), 256);
}
