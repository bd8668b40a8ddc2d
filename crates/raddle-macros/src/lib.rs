//! The attribute macros main and test of raddle.
