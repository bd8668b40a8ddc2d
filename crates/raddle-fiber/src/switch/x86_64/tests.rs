//! Do the offsets in the instructions and in the pictures agree with the structures?

use super::{Entry, FpEnv, Frame, Link, prepare, start};
use crate::switch::Word;
use std::mem::offset_of;
use std::ptr;

#[test]
fn structures_lie_as_drawn() {
    assert_eq!(offset_of!(Link, parent), 0);
    assert_eq!(offset_of!(Link, back), 8);
    assert_eq!(offset_of!(Link, end), 16);
    assert_eq!(offset_of!(Link, own), 24);
    assert_eq!((size_of::<Link>(), align_of::<Link>()), (32, 16));
    assert_eq!(offset_of!(Frame, rbp), 0);
    assert_eq!(offset_of!(Frame, resume_at), 8);
    assert_eq!(offset_of!(Frame, rbx), 16);
    assert_eq!(size_of::<Frame>(), 24);
    assert_eq!(offset_of!(FpEnv, mxcsr), 0);
    assert_eq!(offset_of!(FpEnv, x87), 4);
}

/// An entry function that is never entered.
///
/// # Safety
///
/// Nothing to keep.
unsafe extern "sysv64" fn never(_: Word, _: *const Link, _: *mut ()) -> ! {
    unreachable!()
}

#[test]
fn a_new_stack_lies_as_drawn() {
    #[repr(align(16))]
    struct Memory([usize; 16]);
    let mut memory = Memory([0; 16]);
    let below = memory.0.as_mut_ptr_range().end.cast::<u8>();
    let link = Link::new();
    let closure = ptr::without_provenance_mut(0x1234);
    // SAFETY: the 48 bytes below the end of the array are free.
    let frame = unsafe { prepare(below, &link, closure, never) };
    assert_eq!(below.addr() - frame.addr(), 40, "S-40");
    // SAFETY: written just now.
    let (frame, entry) = unsafe { (frame.read(), below.sub(16).cast::<Entry>().read()) };
    assert_eq!(frame.rbp, ptr::from_ref(&link).cast());
    assert_eq!(frame.resume_at, start as *const ());
    assert_eq!(frame.rbx.addr(), 0x1234);
    assert_eq!(entry as usize, never as *const () as usize, "S-16");
    assert_eq!(link.back, start as *const ());
}

#[test]
fn control_words_are_read_and_set() {
    let before = FpEnv::current();
    let up = FpEnv { mxcsr: before.mxcsr | 0x4000, x87: before.x87 & !0x300 };
    up.load();
    let seen = FpEnv::current();
    before.load();
    assert_eq!(seen, up);
    assert_eq!(FpEnv::current(), before);
}
