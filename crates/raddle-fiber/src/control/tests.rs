//! Does the control block lie as the pictures say?

use super::Control;
use std::mem::offset_of;

#[test]
fn the_link_comes_first() {
    assert_eq!(offset_of!(Control, link), 0);
    assert_eq!(align_of::<Control>(), 16);
    assert!(size_of::<Control>() <= 256, "it takes part of each stack's first page");
}
