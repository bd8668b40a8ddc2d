//! Telling valgrind which memory is a stack, so that it takes a switch for what it is.
//!
//! A request is a sequence of instructions that does nothing elsewhere. Valgrind has to know each
//! stack before the first switch to it; otherwise it takes the new stack pointer for a giant frame
//! and reports every access. What a fiber had below its stack pointer counts as gone, so the memory
//! has to be declared usable again for the next one.

use crate::switch::valgrind_request;

const STACK_REGISTER: usize = 0x1501;
const STACK_DEREGISTER: usize = 0x1502;
/// A request to memcheck: the memory may be written to, and holds nothing.
const MAKE_MEM_UNDEFINED: usize = 0x4d43_0001;
/// The answer where there is no valgrind.
const ABSENT: usize = usize::MAX;

/// The number valgrind gave to a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registered(usize);

/// Says that `bottom..top` is a stack from now on.
#[inline]
pub(crate) fn register(bottom: usize, top: usize) -> Registered {
    let number = valgrind_request(ABSENT, [STACK_REGISTER, bottom, top, 0, 0, 0]);
    if number != ABSENT {
        valgrind_request(0, [MAKE_MEM_UNDEFINED, bottom, top - bottom, 0, 0, 0]);
    }
    Registered(number)
}

/// Says that it is none any more.
#[inline]
pub(crate) fn deregister(stack: Registered) {
    if stack.0 != ABSENT {
        valgrind_request(0, [STACK_DEREGISTER, stack.0, 0, 0, 0, 0]);
    }
}
