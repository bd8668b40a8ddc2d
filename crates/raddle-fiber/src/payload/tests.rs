//! Do values of every size and alignment arrive as they were sent?

use super::{decode, encode};
use std::mem::ManuallyDrop;

fn pass<T>(value: T) -> T {
    let mut value = ManuallyDrop::new(value);
    let word = encode(&mut value);
    // SAFETY: encoded on the line before, decoded once.
    unsafe { decode(word) }
}

#[test]
fn every_size_arrives() {
    pass(());
    assert_eq!(pass(7_u8), 7);
    assert_eq!(pass((1_u8, 2_u32)), (1, 2));
    assert_eq!(pass(u64::MAX), u64::MAX);
    assert_eq!(pass([1_u8, 2, 3]), [1, 2, 3]);
    assert_eq!(pass(1_u128 << 100), 1 << 100);
    assert_eq!(pass([3_u64; 9]), [3; 9]);
}

#[test]
fn ownership_travels() {
    assert_eq!(*pass(Box::new(5)), 5);
    assert_eq!(pass(vec![String::from("a"), String::from("b")]).join("-"), "a-b");
    assert_eq!(pass(Some(Box::new(1))).as_deref(), Some(&1));
}
