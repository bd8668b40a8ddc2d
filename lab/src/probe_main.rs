//! `raddle-lab-probe`: the memory cases, under an allocator that counts.
//!
//! Built apart, so that no timed program ever pays for counting. `raddle-lab one mem_task smol`
//! starts it and passes its line on; there is no reason to call it by hand.

use std::process::ExitCode;

#[global_allocator]
static COUNTING: raddle_lab::Counting = raddle_lab::Counting;

fn main() -> ExitCode {
    raddle_lab::probe()
}
