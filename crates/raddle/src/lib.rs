//! A Linux concurrency runtime with bounded service: the facade over all raddle crates.
