//! The lab: paired benchmarks.

fn main() {}
