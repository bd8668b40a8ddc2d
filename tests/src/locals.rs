//! Thread-locals of another crate than the tests': compilers treat them differently.
//!
//! For the tests that look whether code which waits half-way, on a stack of its own, always finds
//! the variables of the thread it runs on.

use std::cell::{Cell, RefCell};

thread_local! {
    /// Without a destructor, made at compile time.
    pub static PLAIN: Cell<usize> = const { Cell::new(0) };
    /// With a destructor, made by its first use.
    pub static LAZY: RefCell<Vec<usize>> = RefCell::new(vec![1]);
}

/// Where this thread's two variables lie. In line, so that a caller may keep what it finds.
#[inline(always)]
pub fn addresses() -> (usize, usize) {
    let plain = PLAIN.with(|plain| std::ptr::from_ref(plain).addr());
    (plain, LAZY.with(|lazy| std::ptr::from_ref(lazy).addr()))
}
