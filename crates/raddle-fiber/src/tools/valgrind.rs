//! Telling valgrind which memory is a stack, so that it takes a switch for what it is.
//!
//! A request is a sequence of instructions that does nothing elsewhere. Valgrind has to know each
//! stack before the first switch to it; otherwise it takes the new stack pointer for a giant frame
//! and reports every access.

use crate::switch::valgrind_request;

const STACK_REGISTER: usize = 0x1501;
const STACK_DEREGISTER: usize = 0x1502;

/// The number valgrind gave to a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registered(usize);

/// Says that `bottom..top` is a stack from now on.
#[inline]
pub(crate) fn register(bottom: usize, top: usize) -> Registered {
    Registered(valgrind_request(0, [STACK_REGISTER, bottom, top, 0, 0, 0]))
}

/// Says that it is none any more.
#[inline]
pub(crate) fn deregister(stack: Registered) {
    valgrind_request(0, [STACK_DEREGISTER, stack.0, 0, 0, 0, 0]);
}
