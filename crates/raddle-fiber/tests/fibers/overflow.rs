//! A stack overflow is reported with the fiber's name; other faults end as usual.

use super::child;
use raddle_fiber::{Fiber, Stacks, foreign};
use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;

fn recurse(depth: u64) -> u64 {
    let frame = black_box([depth; 32]);
    if depth == u64::MAX { 0 } else { recurse(depth + 1) + frame[7] }
}

fn overflow(stacks: Stacks) {
    let stack = stacks.take().unwrap();
    let named = Fiber::<(), (), u64>::builder().name("deep one").id(77);
    let mut fiber: Fiber<(), (), u64> = named.build(stack, |_, ()| recurse(0));
    fiber.resume(());
}

fn assert_reported(name: &str) {
    let output = child::run(name);
    let errors = child::errors(&output);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{errors}");
    assert!(errors.contains("fiber 'deep one' (id 77) has overflowed its stack"), "{errors}");
    assert!(errors.contains("fault at 0x"), "{errors}");
}

#[test]
fn an_overflow_is_reported() {
    if child::is("overflow::an_overflow_is_reported") {
        overflow(Stacks::usual());
    }
    assert_reported("overflow::an_overflow_is_reported");
}

#[test]
fn an_overflow_of_a_protected_stack_is_reported() {
    if child::is("overflow::an_overflow_of_a_protected_stack_is_reported") {
        overflow(Stacks::builder().force_mprotect(true).build().unwrap());
    }
    assert_reported("overflow::an_overflow_of_a_protected_stack_is_reported");
}

extern "C" fn compare(a: *const libc::c_void, _: *const libc::c_void) -> libc::c_int {
    // SAFETY: qsort passes addresses of elements.
    recurse(unsafe { *a.cast::<u64>() }) as libc::c_int
}

#[test]
fn an_overflow_in_a_callback_from_c_is_reported() {
    if child::is("overflow::an_overflow_in_a_callback_from_c_is_reported") {
        let stack = Stacks::usual().take().unwrap();
        let named = Fiber::<(), (), ()>::builder().name("deep one").id(77);
        let mut fiber: Fiber<(), (), ()> = named.build(stack, |_, ()| {
            let mut numbers = [3_u64, 1, 2];
            // SAFETY: three elements of eight bytes, and a function that compares two.
            foreign(|| unsafe {
                libc::qsort(numbers.as_mut_ptr().cast(), 3, 8, Some(compare));
            });
        });
        fiber.resume(());
    }
    assert_reported("overflow::an_overflow_in_a_callback_from_c_is_reported");
}

#[test]
fn a_null_dereference_ends_as_usual() {
    const NAME: &str = "overflow::a_null_dereference_ends_as_usual";
    if child::is(NAME) {
        let mut fiber = Fiber::<(), (), u8>::new(Stacks::usual().take().unwrap(), |_, ()| {
            // SAFETY: none: this is the fault that is wanted, in a process of its own.
            unsafe { black_box(std::ptr::null::<u8>()).read_volatile() }
        });
        fiber.resume(());
    }
    let output = child::run(NAME);
    let errors = child::errors(&output);
    assert!(!errors.contains("overflowed"), "{errors}");
    let sanitized = errors.contains("AddressSanitizer");
    assert!(sanitized || output.status.signal() == Some(libc::SIGSEGV), "{output:?}");
}

#[test]
fn an_overflow_of_the_threads_own_stack_keeps_its_report() {
    const NAME: &str = "overflow::an_overflow_of_the_threads_own_stack_keeps_its_report";
    if child::is(NAME) {
        let mut fiber = Fiber::<(), ()>::new(Stacks::usual().take().unwrap(), |_, ()| ());
        fiber.resume(());
        black_box(recurse(0));
    }
    let output = child::run(NAME);
    let errors = child::errors(&output);
    let sanitized = errors.contains("AddressSanitizer");
    assert!(sanitized || errors.contains("has overflowed its stack"), "{errors}");
    assert!(!errors.contains("fiber '"), "{errors}");
    assert!(sanitized || output.status.signal() == Some(libc::SIGABRT), "{output:?}");
}
