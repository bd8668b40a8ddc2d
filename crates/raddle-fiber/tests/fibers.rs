//! Fibers through the public API: one test binary, a file for each concern.

#[path = "fibers/basic.rs"]
mod basic;
#[path = "fibers/child.rs"]
mod child;
#[path = "fibers/killing.rs"]
mod killing;
#[path = "fibers/nested.rs"]
mod nested;
#[path = "fibers/overflow.rs"]
mod overflow;
#[path = "fibers/registers.rs"]
mod registers;
#[path = "fibers/stacks.rs"]
mod stacks;
#[path = "fibers/walks.rs"]
mod walks;
