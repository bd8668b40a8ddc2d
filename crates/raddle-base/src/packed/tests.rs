//! Fields are where they were put, and change nothing beside them.

use super::Field;
use crate::packed;

packed! {
    /// A word that uses both ends and leaves a gap.
    struct Word: u64 {
        /// Lowest bit.
        READY: bool = 0..1 => ready, with_ready;
        /// A narrow one.
        KIND: u8 = 1..4 => kind, with_kind;
        /// Up to the highest bit.
        COUNT: u32 = 32..64 => count, with_count;
    }
}

packed! {
    /// One field, the whole word.
    struct Whole: u32 {
        /// All of it.
        ALL: u32 = 0..32 => all, with_all;
    }
}

#[test]
fn a_setter_changes_its_own_bits_only() {
    let full = Word::from_bits(u64::MAX);
    assert_eq!(full.with_kind(0).bits(), !0b1110);
    assert_eq!(full.with_ready(false).bits(), !1);
    assert_eq!(full.with_count(0).bits(), u32::MAX.into());
    let word = Word::ZERO.with_count(7).with_kind(5).with_ready(true);
    assert_eq!((word.count(), word.kind(), word.ready()), (7, 5, true));
    assert_eq!(word.bits(), 7 << 32 | 5 << 1 | 1);
}

#[test]
fn a_field_can_be_the_whole_word() {
    assert_eq!(Whole::ZERO.with_all(u32::MAX).bits(), u32::MAX);
    assert_eq!(Whole::ALL.mask(), u32::MAX);
}

#[test]
fn units_and_masks_serve_operations_on_the_word() {
    let word = Word::ZERO.with_kind(7);
    assert_eq!(Word::from_bits(word.bits() + Word::COUNT.unit()).count(), 1);
    assert_eq!(Word::from_bits(word.bits() & !Word::KIND.mask()), Word::ZERO);
    assert_eq!(Word::KIND.max(), 7);
    assert_eq!(Field::<u8>::new(2, 8).max(), 63);
}

#[test]
fn debug_names_the_fields() {
    let text = format!("{:?}", Word::ZERO.with_count(2));
    assert_eq!(text, "Word { ready: false, kind: 0, count: 2 }");
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "too large")]
fn a_value_that_does_not_fit_is_refused() {
    let _ = Word::ZERO.with_kind(8);
}
