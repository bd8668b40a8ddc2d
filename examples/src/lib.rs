//! One idea a program: see `src/bin`. Each asserts its own output; the test of this crate runs
//! them all.
