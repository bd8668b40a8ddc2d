//! One idea a program, each asserts its own output.
