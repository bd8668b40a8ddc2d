//! `raddle-lab`: how fast is raddle, and its peers, at the cases of `lab/CASES.md`?
//!
//! Everything is in the library, so that the probe (the same cases under an allocator that
//! counts) is a second small program and not a second lab.

use std::process::ExitCode;

fn main() -> ExitCode {
    raddle_lab::lab()
}
