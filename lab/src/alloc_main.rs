//! `alloc_probe`: allocations an operation of every primitive, under an allocator that counts.
//!
//! Built apart, as the memory probe is. An exit code other than 0 says that a wait of raddle
//! allocates, or that something allocates otherwise than documented.

use std::process::ExitCode;

#[global_allocator]
static COUNTING: raddle_lab::Counting = raddle_lab::Counting;

fn main() -> ExitCode {
    raddle_lab::allocations()
}
