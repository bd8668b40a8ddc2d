//! Tests of waiting: sequential ones, and their twins under the model checker.

#[cfg(not(loom))]
mod batch;
#[cfg(not(loom))]
mod cell;
#[cfg(loom)]
mod cell_models;
mod gate;
#[cfg(not(loom))]
mod queue;
#[cfg(loom)]
mod queue_models;
#[cfg(not(loom))]
mod support;
