//! Tests of waiting: sequential ones, and their twins under the model checker.

#[cfg(not(loom))]
mod cell;
#[cfg(loom)]
mod cell_models;
#[cfg(not(loom))]
mod support;
