//! Paired benchmarks: scenario × contender, each contender an adapter.
//!
//! Reading order: `plan` says how much one sample does; `outcome` what it gives; `rt` what a
//! contender must offer (tasks, or stacks that block), `hosted` what more for the service cases;
//! `cases` has a file for each scenario, generic over the contender; `contender` says what one is,
//! `contenders` has a file for each runtime and the table of who takes part where; `served` and
//! `load` are the two sides of the network cases; `compare` and `run` start the samples as
//! processes and judge them with `stats`; `cli` is the face.
//!
//! `lab/CASES.md` defines every case; a test keeps it complete.

mod allocations;
mod bars;
mod cases;
mod cli;
mod compare;
mod contender;
mod contenders;
mod counting;
mod hand;
mod hosted;
mod kinds;
mod load;
mod machine;
mod memory;
mod one;
mod outcome;
mod plan;
mod probe;
mod report;
mod rounds;
mod rt;
mod run;
mod sampling;
mod served;
mod stats;

pub use counting::Counting;

use std::process::ExitCode;

/// The program `raddle-lab`.
pub fn lab() -> ExitCode {
    cli::main()
}

/// The program `raddle-lab-probe`: its main must run under [`Counting`].
pub fn probe() -> ExitCode {
    probe::main()
}

/// The program `alloc_probe`: its main must run under [`Counting`].
pub fn allocations() -> ExitCode {
    allocations::main()
}
