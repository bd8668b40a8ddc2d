//! Values in one register: how an input, an output or an answer of any type crosses a switch.
//!
//! A value of at most eight bytes travels in the register itself. Of a larger one the address
//! travels; the value stays where the sender has it until the receiver has copied it, which is the
//! first thing the receiver does, while the sender is still stopped in its switch.

use crate::switch::Word;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr;

/// Does the value itself fit?
const fn fits<T>() -> bool {
    size_of::<T>() <= size_of::<Word>() && align_of::<T>() <= align_of::<Word>()
}

/// The word for `value`, which must stay where it is, and must not be dropped, until [`decode`].
#[inline(always)]
pub(crate) fn encode<T>(value: &mut ManuallyDrop<T>) -> Word {
    if fits::<T>() {
        let mut word: Word = MaybeUninit::uninit();
        // SAFETY: the value is not larger than the word and not stricter aligned.
        unsafe { word.as_mut_ptr().cast::<ManuallyDrop<T>>().copy_from(value, 1) };
        word
    } else {
        MaybeUninit::new(ptr::from_mut(value).cast())
    }
}

/// The value behind a word.
///
/// # Safety
///
/// `word` came from [`encode`] with the same type, is decoded once, and the encoded value has not
/// moved since.
#[inline(always)]
pub(crate) unsafe fn decode<T>(word: Word) -> T {
    if fits::<T>() {
        // SAFETY: `encode` wrote a T at the start of the word.
        unsafe { word.as_ptr().cast::<T>().read() }
    } else {
        // SAFETY: `encode` gave the address of a T, which is still there and read only once.
        unsafe { word.assume_init().cast::<T>().read() }
    }
}

#[cfg(test)]
mod tests;
